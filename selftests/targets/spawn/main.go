// Spawn starts many short children while it does countable work: a child created as by vfork(2)
// runs in its parent's memory, breakpoints included, and must not be taken for the parent.
//
//	spawn [-children N]
//
// N goroutines start programs by os/exec, whose child runs none of the scheduler's code. So another
// one creates N children directly, which make system calls like their parent before they exit. It
// speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
package main

import (
	"flag"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	children := flag.Int("children", 40, "children of each kind")
	flag.Parse()
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(4)
	protocol.Ready()

	idle := runtime.NumGoroutine()
	var group sync.WaitGroup
	group.Add(*children)
	for i := 0; i < *children; i++ {
		go runner(&group)
	}
	group.Wait()
	group.Add(1)
	go forker(&group, *children)
	group.Wait()
	for runtime.NumGoroutine() > idle {
		time.Sleep(time.Millisecond)
	}
	protocol.Done(map[string]any{"go": runtime.Version(), "expect": claims(*children)})
}

func claims(n int) []protocol.Claim {
	claim := func(name, function, event string, count int, why string, reasons ...string) protocol.Claim {
		return protocol.Claim{
			Name: name, Functions: []string{function}, Event: event, Reasons: reasons,
			Count: count, Why: why,
		}
	}
	return []protocol.Claim{
		claim("created main.runner", "main.runner", "create", n, "one go statement each"),
		claim("finished main.runner", "main.runner", "destroy", n, "all have returned"),
		claim("sleeps of main.runner", "main.runner", "block", n, "one each", "sleep"),
		claim("created main.forker", "main.forker", "create", 1, "one go statement"),
		claim("finished main.forker", "main.forker", "destroy", 1, "it has returned"),
		claim("syscalls of main.forker", "main.forker", "syscall", 2*n,
			"two for each child: the child's are its own"),
	}
}

// runner starts a program.
func runner(group *sync.WaitGroup) {
	time.Sleep(time.Microsecond)
	protocol.Check(exec.Command("/bin/true").Run())
	group.Done()
}

// forker creates children that share its memory, one after the other. While it waits for one, the
// child's actions affect the scheduler's state; that is harmless while nothing else is runnable,
// and there are idle Ps.
func forker(group *sync.WaitGroup, children int) {
	runtime.LockOSThread()
	needStack()
	for i := 0; i < children; i++ {
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
		pid := cloneShared()
		syscall.RawSyscall6(syscall.SYS_WAIT4, pid, 0, 0, 0, 0, 0)
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	runtime.UnlockOSThread()
	group.Done()
}

// cloneShared returns the child's PID, after it has ended.
func cloneShared() (pid uintptr)

// child runs in the child: system calls that are reported to the scheduler.
func child() {
	for i := 0; i < 3; i++ {
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// needStack grows the stack to the size that child needs, which must not grow its parent's stack.
//
//go:noinline
func needStack() {
	var room [16 << 10]byte
	use(&room)
}

//go:noinline
func use(room *[16 << 10]byte) {
	room[0] = 1
}
