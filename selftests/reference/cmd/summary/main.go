// Summary prints where the goroutines of a trace spent their time, by start function: their number,
// and their total time running, runnable, blocked and in syscalls, with the main reasons for
// blocking.
//
//	summary [-json] [-n ROWS] FILE
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	rows := flag.Int("n", 25, "print at most this many functions, those that ran most first (0: all)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: summary [-json] [-n ROWS] FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	t, err := tracefile.Load(flag.Arg(0), tracefile.NewTables())
	if err != nil {
		command.Check(fmt.Errorf("%s: %w", flag.Arg(0), err))
	}
	s := summarise(t)
	if *asJSON {
		out := command.Must(json.MarshalIndent(s, "", "  "))
		fmt.Println(string(out))
		return
	}
	s.print(*rows)
}

func (s *summary) print(rows int) {
	fmt.Printf("%s traced, %d events, %d goroutines of %d start functions, %d generations\n\n",
		show(s.DurationNS), s.Events, s.Goroutines, len(s.Functions), s.Generations)
	fmt.Printf("%-36s %6s %8s %8s %8s %8s  %s\n",
		"start function", "count", "running", "runnable", "blocked", "syscall", "blocked on")
	for i, f := range s.Functions {
		if rows > 0 && i == rows {
			fmt.Printf("and %d more\n", len(s.Functions)-rows)
			break
		}
		fmt.Printf("%-36s %6d %8s %8s %8s %8s  %s\n", shorten(f.Name, 36), f.Goroutines,
			show(f.RunningNS), show(f.RunnableNS), show(f.BlockedNS), show(f.SyscallNS),
			f.topReason())
	}
}

// topReason is the reason with the most blocked time, shortened to the rest of 100 columns.
func (f *function) topReason() string {
	best := ""
	for reason, ns := range f.BlockedOnNS {
		if best == "" || ns > f.BlockedOnNS[best] || ns == f.BlockedOnNS[best] && reason < best {
			best = reason
		}
	}
	if len(best) > 18 {
		best = best[:17] + "~"
	}
	return best
}

// shorten keeps the end of a name, which is more specific than the path before it.
func shorten(s string, width int) string {
	if len(s) <= width {
		return s
	}
	return "~" + s[len(s)-width+1:]
}

// show prints a duration with three significant digits, at most 7 characters.
func show(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(ns)/1e6)
	case d > 0:
		return fmt.Sprintf("%.1fus", float64(ns)/1e3)
	}
	return "0"
}
