// Hostile does, from "ready" until it is killed, what races with an attachment of inline probes, or what
// forges their records: see selftests/check/attach_races.sh.
//
//	hostile spawn | exec | ids | scribble | areas
//
// Its goroutines work a little all the time, so that there is something to record.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const racers = 4 // goroutines that do the same, each with a thread of its own

var acts = map[string]func(){
	"spawn":    spawn,
	"exec":     execute,
	"ids":      changeIDs,
	"scribble": scribble,
	"areas":    scribbleAreas,
}

func main() {
	act := acts[os.Args[len(os.Args)-1]]
	if act == nil {
		fmt.Fprintln(os.Stderr, "usage: hostile spawn | exec | ids | scribble | areas")
		os.Exit(2)
	}
	go work()
	for i := 1; i < racers; i++ {
		go act()
	}
	if os.Getenv(again) == "" {
		fmt.Println("ready", os.Getpid())
	}
	act()
}

func work() {
	to, from := make(chan int), make(chan int)
	go func() {
		for {
			from <- <-to
		}
	}()
	for ; ; time.Sleep(2 * time.Millisecond) {
		for i := 0; i < 50; i++ {
			to <- i
			<-from
		}
	}
}

// spawn starts children in its own memory, as os/exec does, and waits for each.
func spawn() {
	for {
		pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
		protocol.Must(pid, err)
		for err = syscall.EINTR; err == syscall.EINTR; {
			_, err = syscall.Wait4(pid, nil, 0, nil)
		}
		protocol.Check(err)
	}
}

const (
	again         = "HOSTILE_AGAIN" // set: this is not the first program of the process
	executeWithin = 1500 * time.Millisecond
)

// execute executes the same program again, from any of several threads.
func execute() {
	time.Sleep(time.Duration(rand.Int63n(int64(executeWithin))))
	os.Setenv(again, "1")
	protocol.Check(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}

// changeIDs gives up and takes back the effective IDs of its thread, of all threads, and the permission of
// others to trace the process.
func changeIDs() {
	const same, other = ^uintptr(0), 65534
	runtime.LockOSThread()
	self := uintptr(os.Geteuid())
	// The runtime ends the process if one thread may not change its group as another may: those without
	// privileges may, if it is the saved one.
	protocol.Check(syscall.Setresgid(-1, -1, int(other)))
	for n := uintptr(0); ; n++ {
		syscall.RawSyscall(syscall.SYS_SETRESUID, same, other, same)
		syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, n&1, 0)
		syscall.RawSyscall(syscall.SYS_SETRESUID, same, self, same)
		if n%64 == 0 {
			protocol.Check(syscall.Setresgid(-1, int(other*(n/64&1)), -1))
		}
		if n%8 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
}
