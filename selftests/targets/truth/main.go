// Truth is the known-count target. It does countable work: prime numbers of goroutines, channel
// operations, syscalls and garbage collections, for which the exact number of trace events follows
// from the semantics of Go and does not depend on scheduling. It prints those numbers, so that a
// trace taken from outside can be checked without runtime/trace.
//
//	truth [-trace FILE]
//
// It speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
// Everything counted happens in goroutines created after "start" and ended before "done". With
// -trace the runtime traces it too, which verifies the claims themselves.
package main

import (
	"flag"
	"runtime"
	"runtime/debug"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// claim is one claimed number; protocol.Claim documents it.
type claim = protocol.Claim

func expect(name string, functions []string, event string, reasons []string, n int, why string) claim {
	return claim{
		Name: name, Functions: functions, Event: event, Reasons: reasons, Count: n, Why: why,
	}
}

// phases are run one after the other. Each starts goroutines with functions of its own, waits for
// them, and returns their claims.
var phases = []func() []claim{
	churn, goexits, meetings, sleeps, yields, plainSyscalls, lostProcessors, collections,
	annotations,
}

func main() {
	file := flag.String("trace", "", "have the runtime trace it too, into `FILE`")
	flag.Parse()
	// Only explicit collections.
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
		// A goroutine reports its end before it is destroyed: wait for that too.
		for runtime.NumGoroutine() > idle {
			time.Sleep(time.Millisecond)
		}
	}
	stop()
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": all})
}
