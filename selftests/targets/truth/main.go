// Truth does countable things: prime numbers of goroutines, channel meetings, syscalls,
// collections, of which the exact number of trace events follows from the semantics of Go and
// not from how the scheduler happened to run them. It prints those numbers, so that a trace taken
// from outside can be judged without runtime/trace having been on.
//
//	truth [-trace FILE]
//
// It speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
// Everything counted happens in goroutines created after "start" and gone before "done". With
// -trace the runtime traces it too: the proof that the claims themselves are right.
package main

import (
	"flag"
	"runtime"
	"runtime/debug"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// claim is what is said of one number; protocol.Claim documents it.
type claim = protocol.Claim

func expect(name string, functions []string, event string, reasons []string, n int, why string) claim {
	return claim{
		Name: name, Functions: functions, Event: event, Reasons: reasons, Count: n, Why: why,
	}
}

// phases are run one after the other. Each starts goroutines of functions of its own, waits for
// them, and returns what must be found of them.
var phases = []func() []claim{
	churn, goexits, meetings, sleeps, yields, plainSyscalls, lostProcessors, collections,
	annotations,
}

func main() {
	file := flag.String("trace", "", "have the runtime trace it too, into `FILE`")
	flag.Parse()
	// No collection but the ones asked for.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 62)
	runtime.GC()
	protocol.Ready()

	idle := runtime.NumGoroutine()
	stop := protocol.Trace(*file)
	if *file != "" {
		idle = runtime.NumGoroutine()
	}
	var all []claim
	for _, phase := range phases {
		all = append(all, phase()...)
		// A goroutine tells that it is through before it is destroyed: wait for that too.
		for runtime.NumGoroutine() > idle {
			time.Sleep(time.Millisecond)
		}
	}
	stop()
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": all})
}
