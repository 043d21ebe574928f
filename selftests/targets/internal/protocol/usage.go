package protocol

import (
	"os"
	"runtime/trace"
	"syscall"
)

// CPU returns the CPU time that this process has used, in nanoseconds, user and system.
func CPU() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		Fail(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// Trace makes the runtime trace the program into a file, if one is named, and returns the function
// that stops it.
func Trace(file string) (stop func()) {
	if file == "" {
		return func() {}
	}
	f, err := os.Create(file)
	if err != nil {
		Fail(err)
	}
	if err := trace.Start(f); err != nil {
		Fail(err)
	}
	return func() {
		trace.Stop()
		if err := f.Close(); err != nil {
			Fail(err)
		}
	}
}
