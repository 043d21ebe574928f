// Latency spends time in the states that `gotrace latency` distinguishes, each in goroutines of
// their own, and measures the expected components itself.
//
//	latency -case NAME [-duration D] [-core N] [-cgroup DIR]
//
// Cases: burn (uses a CPU), competitor (next to a CPU-bound process on the same CPU), go (waits for
// Go: a P, a timer), convoy (threads that wait in a futex for each other), raw (system calls that
// are not reported to the runtime), pipe (reads from a slow pipe), socket (the same over loopback
// TCP), child (uninterruptible sleep), disk (reads from a slow file system), fault (the same by
// page faults), gc (collections on half the CPUs that Go assumes).
//
// -core pins the process to a CPU. -cgroup moves it into a cgroup, which must be otherwise empty:
// its cpu.stat has the time for which that was throttled.
//
// It speaks the handshake of package protocol; the done line is {"from","to","parts":[...]}: the
// time of the work, by CLOCK_MONOTONIC, and the expected components, see protocol.Part.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

type part = protocol.Part

type workload struct {
	procs   int // GOMAXPROCS
	prepare func()
	run     func() []part
}

var cases = map[string]workload{
	"burn":       {1, nil, burn},
	"competitor": {1, competitor, burnBeside},
	"go":         {1, nil, waitForGo},
	"convoy":     {8, nil, convoy},
	"raw":        {4, nil, rawCalls},
	"pipe":       {4, nil, slowPipe},
	"socket":     {4, nil, localSocket},
	"child":      {4, nil, child},
	"disk":       {4, mountSlow, slowDisk},
	"fault":      {4, mountSlow, slowFaults},
	"gc":         {2, growHeap, collect},
}

var (
	duration = flag.Duration("duration", 2*time.Second, "how long to work")
	cgroup   = flag.String("cgroup", "", "run in the cgroup of `DIR`")
)

func main() {
	name := flag.String("case", "burn", "what to do, or which part to play next to it")
	core := flag.Int("core", -1, "run on this CPU only")
	flag.Parse()
	if helper := helpers[*name]; helper != nil {
		helper()
		return
	}
	w, ok := cases[*name]
	if !ok {
		protocol.Fail(fmt.Errorf("no case %q", *name))
	}
	restart(*core)
	runtime.GOMAXPROCS(w.procs)
	debug.SetGCPercent(-1)
	if *cgroup != "" {
		joinCgroup()
	}
	if w.prepare != nil {
		w.prepare()
	}
	protocol.Ready()
	from := clocks.Wall()
	parts := w.run()
	to := clocks.Wall()
	atEnd()
	protocol.Done(map[string]any{"from": from, "to": to, "parts": parts})
}

// restart makes the process execute itself, once: pinned before it has a second thread, and with
// goroutines preempted only at calls.
func restart(core int) {
	const mark = "GOTRACE_LATENCY_AGAIN"
	if os.Getenv(mark) != "" {
		return
	}
	runtime.LockOSThread()
	if core >= 0 {
		pin(core)
	}
	env := append(os.Environ(), mark+"=1", "GODEBUG=asyncpreemptoff=1")
	protocol.Fail(syscall.Exec("/proc/self/exe", os.Args, env))
}

func pin(core int) {
	var mask [16]uint64
	mask[core/64%len(mask)] = 1 << (core % 64)
	_, _, err := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if err != 0 {
		protocol.Fail(fmt.Errorf("CPU %d: %w", core, err))
	}
}

// Cleanup after the work.
var undo []func()

func atEnd() {
	for _, f := range undo {
		f()
	}
}
