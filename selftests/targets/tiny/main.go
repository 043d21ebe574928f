// Tiny is a small program that exits, or executes another one, after a short time: for recorders
// that attach to a process while it ends or execs.
//
//	tiny [-duration D] [-exec PATH]
//
// It prints "pid PID", works a little for D, and then exits with 0 or, given -exec, becomes PATH
// (called with no arguments).
package main

import (
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"
)

func main() {
	duration := flag.Duration("duration", 100*time.Millisecond, "how long to live")
	path := flag.String("exec", "", "program to become afterwards")
	flag.Parse()
	fmt.Printf("pid %d\n", os.Getpid())

	go tick()
	time.Sleep(*duration)
	if *path != "" {
		err := syscall.Exec(*path, []string{*path}, os.Environ())
		fmt.Fprintf(os.Stderr, "exec %s: %v\n", *path, err)
		os.Exit(1)
	}
}

// tick does some work, so that there are events.
func tick() {
	for {
		time.Sleep(time.Millisecond)
	}
}
