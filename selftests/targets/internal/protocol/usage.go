package protocol

import (
	"os"
	"runtime/trace"
	"syscall"
)

// CPU returns the CPU time that this process has used, in nanoseconds, user and system.
func CPU() int64 {
	var u syscall.Rusage
	Check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// Trace makes the runtime trace the program into a file, if one is named, and returns the function
// that stops it.
func Trace(file string) (stop func()) {
	if file == "" {
		return func() {}
	}
	f := Must(os.Create(file))
	Check(trace.Start(f))
	return func() {
		trace.Stop()
		Check(f.Close())
	}
}
