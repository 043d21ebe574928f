// Chain makes a goroutine wait in a known chain: main.first waits for main.second, which waits for
// a lock that main.holder has, which, with the lock held,
//
//	sleeps: by the runtime's timer,
//	burns:  runs on a core,
//	reads:  from a pipe, by a blocking system call, into which another process (sh) writes later,
//	waits:  by a futex that the runtime knows nothing of, until main.waker, which burns, wakes it.
//
//	chain [-rounds N] [-each DURATION]
//
// It speaks the handshake of package protocol; the done line has how long each of the four took, in ns, all rounds
// together, and the process that writes.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	rounds = flag.Int("rounds", 10, "how often")
	each   = flag.Duration("each", 20*time.Millisecond, "how long each of the four takes")

	lock   sync.Mutex
	start  = make(chan bool)
	held   = make(chan bool)
	passed = make(chan bool)
	wake   = make(chan bool)
	word   uint32

	ask, answer int // pipes to and from the other process
)

type result struct {
	Sleep  int64 `json:"sleep_ns"`
	Burn   int64 `json:"burn_ns"`
	Read   int64 `json:"read_ns"`
	Futex  int64 `json:"futex_ns"`
	Writer int   `json:"writer"`
}

func main() {
	flag.Parse()
	runtime.GOMAXPROCS(4) // one of them is held by the goroutine that waits for the futex
	writer := startWriter()
	protocol.Ready()
	var took result
	done := make(chan bool)
	go holder(&took)
	go second()
	go waker()
	go first(done)
	<-done
	took.Writer = writer.Process.Pid
	syscall.Close(ask)
	writer.Wait()
	protocol.Done(took)
}

func first(done chan bool) {
	for i := 0; i < *rounds; i++ {
		start <- true
		<-passed
	}
	done <- true
}

func second() {
	for range held {
		lock.Lock()
		lock.Unlock()
		passed <- true
	}
}

func holder(took *result) {
	for range start {
		lock.Lock()
		held <- true
		took.Sleep += timed(func() { time.Sleep(*each) }) // the second one has time to block
		took.Burn += timed(burn)
		took.Read += timed(read)
		took.Futex += timed(wait)
		lock.Unlock()
	}
}

func timed(do func()) int64 {
	begin := time.Now()
	do()
	return int64(time.Since(begin))
}

func burn() {
	for begin := time.Now(); time.Since(begin) < *each; {
	}
}

// The other process answers a line after a delay.
func startWriter() *exec.Cmd {
	var in, out [2]int
	protocol.Check(syscall.Pipe2(in[:], syscall.O_CLOEXEC))
	protocol.Check(syscall.Pipe2(out[:], syscall.O_CLOEXEC))
	script := fmt.Sprintf("while read -r line; do sleep %f; echo; done", each.Seconds())
	cmd := exec.Command("sh", "-c", script)
	cmd.Stdin = os.NewFile(uintptr(in[0]), "in")
	cmd.Stdout = os.NewFile(uintptr(out[1]), "out")
	protocol.Check(cmd.Start())
	ask, answer = in[1], out[0]
	return cmd
}

func read() {
	line := []byte{'\n'}
	syscall.Write(ask, line)
	for {
		if _, err := syscall.Read(answer, line); err != syscall.EINTR {
			return
		}
	}
}

const (
	futexWait = 128 // FUTEX_WAIT, private
	futexWake = 129
)

func futex(op, value uintptr) {
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), op, value, 0, 0, 0)
}

func wait() {
	atomic.StoreUint32(&word, 0)
	wake <- true
	for atomic.LoadUint32(&word) == 0 {
		futex(futexWait, 0)
	}
}

func waker() {
	for range wake {
		burn()
		atomic.StoreUint32(&word, 1)
		futex(futexWake, 1)
	}
}
