// This file is added to package main of third-party servers (selftests/fidelity.lib.sh), so that a
// server under load can be compared with its own runtime/trace: the server is otherwise unchanged.
//
// Signal 40 starts the runtime's tracer into the file that GOTRACE_SELFTRACE names, signal 41 stops it and
// writes an empty file of that name with ".done". Without the variable it does nothing. It is compiled
// by every release from 1.19 on, and imports nothing that a main package may have as a name of its own.

package main

import (
	gotraceOS "os"
	gotraceSignal "os/signal"
	gotraceTrace "runtime/trace"
	gotraceSyscall "syscall"
)

// Not SIGUSR1 and SIGUSR2, which servers use.
const (
	gotraceBegin = gotraceSyscall.Signal(40)
	gotraceEnd   = gotraceSyscall.Signal(41)
)

func init() {
	if name := gotraceOS.Getenv("GOTRACE_SELFTRACE"); name != "" {
		wishes := make(chan gotraceOS.Signal, 1)
		gotraceSignal.Notify(wishes, gotraceBegin, gotraceEnd)
		go gotraceSelftrace(name, wishes)
	}
}

func gotraceSelftrace(name string, wishes <-chan gotraceOS.Signal) {
	var file *gotraceOS.File
	for wish := range wishes {
		var err error
		switch {
		case wish == gotraceBegin && file == nil:
			if file, err = gotraceOS.Create(name); err == nil {
				err = gotraceTrace.Start(file)
			}
		case wish == gotraceEnd && file != nil:
			gotraceTrace.Stop()
			if err = file.Close(); err == nil {
				err = gotraceOS.WriteFile(name+".done", nil, 0o644)
			}
			file = nil
		}
		if err != nil {
			gotraceOS.Stderr.WriteString("selftrace: " + err.Error() + "\n")
			gotraceOS.Exit(3)
		}
	}
}
