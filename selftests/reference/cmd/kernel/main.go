// Kernel checks the kernel events of a trace.
//
//	kernel switches [-p99 NS] EVENTS DONE PERF PID
//	kernel calls EVENTS DONE TRACE
//
// EVENTS is the output of `gotrace events --kernel --json TRACE`, DONE a target's done line, PERF
// the output of `perf script --ns -F pid,tid,cpu,time,event,trace` of a concurrent `perf sched
// record -k CLOCK_MONOTONIC`, PID the target's. "switches" compares context switches and wake-ups
// with perf's: they must be the same, with equal values of all common fields, except for events
// that perf missed, as its own record proves: a switch from a thread that was not on that CPU. -p99
// also limits the difference of the switches' times. "calls" compares system calls and threads with
// the target's own counts. Findings go to standard output; exit status 1 if there is a difference.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	"gotrace-bpf/selftests/reference/internal/kernel"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	options := flag.NewFlagSet("kernel", flag.ExitOnError)
	p99 := options.Int64("p99", 0, "99 % of the switches are at most `NS` apart (0: any)")
	options.Usage = usage
	options.Parse(os.Args[2:])
	var wrong []string
	var err error
	switch args := options.Args(); {
	case os.Args[1] == "switches" && len(args) == 4:
		wrong, err = switches(args, *p99)
	case os.Args[1] == "calls" && len(args) == 3:
		wrong, err = calls(args)
	default:
		usage()
	}
	kernel.Report("kernel", wrong, err)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: kernel switches [-p99 NS] EVENTS DONE PERF PID\n       kernel calls EVENTS DONE TRACE")
	os.Exit(2)
}

func load(events, done string) ([]kernel.Item, kernel.Done, error) {
	items, err := kernel.LoadItems(events)
	if err != nil {
		return nil, kernel.Done{}, err
	}
	d, err := kernel.LoadDone(done)
	return items, d, err
}

func switches(args []string, p99 int64) ([]string, error) {
	items, done, err := load(args[0], args[1])
	if err != nil {
		return nil, err
	}
	file, err := os.Open(args[2])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	perf, err := kernel.ParsePerf(file)
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(args[3])
	if err != nil {
		return nil, err
	}
	m := kernel.Compare(items, perf, pid, done.From, done.To)
	fmt.Printf("%d wrong, %d that perf missed; switches: %s; wake-ups: %s\n", len(m.Wrong), m.Missed, m.Switches, m.Wakings)
	if len(m.Switches) == 0 || len(m.Wakings) == 0 {
		m.Wrong = append(m.Wrong, "nothing to compare")
	}
	if p99 > 0 && m.Switches.Percentile(0.99) > p99 {
		m.Wrong = append(m.Wrong, fmt.Sprintf("the 99th percentile is over %d ns", p99))
	}
	return m.Wrong, nil
}

func calls(args []string) ([]string, error) {
	items, done, err := load(args[0], args[1])
	if err != nil {
		return nil, err
	}
	t, err := tracefile.Load(args[2], tracefile.NewTables())
	if err != nil {
		return nil, err
	}
	if len(done.Calls) == 0 || len(done.Ended) == 0 || len(done.After) == 0 || done.Listed == 0 {
		return nil, fmt.Errorf("%s: no calls or threads", args[1])
	}
	wrong := kernel.Calls(items, &done, t.StartFunc)
	wrong = append(wrong, kernel.Threads(items, &done)...)
	fmt.Printf("%d items, %d claims of calls, %d threads that ended, %d that are there\n", len(items), len(done.Calls),
		len(done.Ended), len(done.After))
	return wrong, nil
}
