package main

// An unavailable CPU: another process uses it, or the cgroup's quota is used up.

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
	"gotrace-bpf/selftests/targets/internal/slowfs"
)

// The helper processes of this program.
var helpers = map[string]func(){"be-competitor": beCompetitor, "be-slow": slowfs.Serve}

func besideCommand(name string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "-case", name)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// start makes the other process end with this one; on the same CPU, if this one is pinned.
func start(cmd *exec.Cmd) {
	runtime.LockOSThread() // the signal comes when the thread ends
	protocol.Check(cmd.Start())
	undo = append(undo, func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func competitor() { start(besideCommand("be-competitor")) }

func beCompetitor() {
	for {
		clocks.Burn()
	}
}

// burn is not locked to its thread, and may be preempted: it is the only runnable goroutine.
func burn() []part {
	before := throttledTime()
	used := make(chan use)
	go burner(used)
	u := <-used
	parts := u.split("main.burner")
	if *cgroup == "" {
		return append(parts, share("main.burner", 0, 0.001, throttled))
	}
	// While it is throttled, schedstat may not count its delay.
	parts[len(parts)-1] = u.is("main.burner", "the rest of the time", u.Wall-u.CPU, kernelRunnable, throttled)
	return append(parts, u.is("main.burner", "cpu.stat", throttledTime()-before, throttled),
		share("main.burner", 0.01, 0.13, onCPU))
}

// burnBeside gets half of the CPU time next to the competitor, or less if other processes compete, too.
func burnBeside() []part {
	return append(burn(), share("main.burner", 0.45, 1, kernelRunnable))
}

func burner(used chan<- use) {
	used <- measure(func(until int64) {
		for clocks.Wall() < until {
			burnMore()
		}
	})
}

// burnMore has a stack check, where a goroutine may be preempted.
//
//go:noinline
func burnMore() (sum uint64) {
	var many [64]uint64
	for i := range many {
		many[i] = uint64(i)
	}
	sum = clocks.Burn()
	for _, x := range many {
		sum += x
	}
	return sum
}

func joinCgroup() {
	protocol.Check(os.WriteFile(*cgroup+"/cgroup.procs", []byte("0"), 0))
}

func throttledTime() int64 {
	if *cgroup == "" {
		return 0
	}
	text := protocol.Must(os.ReadFile(*cgroup + "/cpu.stat"))
	for _, line := range bytes.Split(text, []byte("\n")) {
		word, number, _ := bytes.Cut(line, []byte(" "))
		n, _ := strconv.ParseInt(string(number), 10, 64)
		switch string(word) {
		case "throttled_time": // cgroup v1
			return n
		case "throttled_usec":
			return n * 1000
		}
	}
	protocol.Fail(fmt.Errorf("%s: no throttled time", *cgroup))
	return 0
}
