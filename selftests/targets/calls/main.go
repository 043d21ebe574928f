// Calls makes known numbers of system calls, both those that are reported to Go's runtime and raw
// ones, with known results, and threads of known names that begin and end.
//
//	calls [-n N]
//
// It speaks the handshake of package protocol; the done line is {"from","to","calls":[...],
// "before":[...],"ended":[...],"listed","after":[...]}: the time of the work, by CLOCK_MONOTONIC, the number
// of calls by function, call and result, the threads that existed first, those that began and
// ended, and those that exist at the end; "listed" is the time when it began to list the last ones.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

// made has the calls of the goroutines of a function, without those that the runtime made for them.
type made struct {
	Function string `json:"function"`
	Name     string `json:"name"`
	Result   int    `json:"result"` // or a negative errno
	Count    int    `json:"count"`
}

type thread struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

const shortThreads = 7

// The process's first thread does not end with a goroutine that is locked to it: it is reserved for
// main.
func init() { runtime.LockOSThread() }

func main() {
	n := flag.Int("n", 1009, "calls of a kind")
	flag.Parse()
	protocol.Ready()
	from, before := clocks.Wall(), present()
	done := make(chan bool)
	go rawCaller(*n, done)
	go caller(*n, done)
	<-done
	<-done
	parent := os.Getppid()
	ended := shortLived()
	listed, after := clocks.Wall(), present()
	protocol.Done(map[string]any{
		"from": from, "to": clocks.Wall(), "before": before, "ended": ended, "listed": listed, "after": after,
		"calls": []made{
			{"main.rawCaller", "getppid", parent, *n},
			{"main.rawCaller", "close", -int(syscall.EBADF), *n / 2},
			{"main.caller", "getppid", parent, *n / 3},
			{"main.caller", "lseek", -int(syscall.EINVAL), *n},
		},
	})
}

func rawCaller(n int, done chan<- bool) {
	for i := 0; i < n; i++ {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	for i := 0; i < n/2; i++ {
		syscall.RawSyscall(syscall.SYS_CLOSE, ^uintptr(0), 0, 0)
	}
	done <- true
}

// caller makes calls that are reported to the runtime.
func caller(n int, done chan<- bool) {
	fd := protocol.Must(syscall.Open("/dev/null", syscall.O_RDONLY, 0))
	for i := 0; i < n; i++ {
		syscall.Seek(fd, 0, 99)
		if i%3 == 2 {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
		}
	}
	done <- true
}

// shortLived creates threads that set their names and end, one after the other, by goroutines that
// end while they are locked to their threads.
func shortLived() (ended []thread) {
	id := make(chan thread)
	for i := 0; i < shortThreads; i++ {
		go endThread(fmt.Sprintf("short-%d \"%c\"", i, rune(0xe0+i)), id)
		t := <-id
		ended = append(ended, t)
		task := fmt.Sprintf("/proc/self/task/%d", t.ID)
		for _, err := os.Stat(task); err == nil; _, err = os.Stat(task) {
			time.Sleep(time.Millisecond)
		}
	}
	return ended
}

func endThread(name string, id chan<- thread) {
	runtime.LockOSThread()
	text := append([]byte(name), 0)
	_, _, err := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0)
	if err != 0 {
		protocol.Fail(err)
	}
	id <- thread{syscall.Gettid(), name}
}

func present() (all []thread) {
	tasks, _ := filepath.Glob("/proc/self/task/*")
	for _, task := range tasks {
		id, err := strconv.Atoi(filepath.Base(task))
		comm, errRead := os.ReadFile(task + "/comm")
		if err == nil && errRead == nil {
			all = append(all, thread{id, strings.TrimSuffix(string(comm), "\n")})
		}
	}
	return all
}
