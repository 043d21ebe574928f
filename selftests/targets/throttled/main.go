// Throttled computes in a cgroup with a CPU quota, next to many goroutines that do nothing: half of
// these are blocked by Go, half in a system call.
//
//	throttled -cgroup DIR [-duration D]
package main

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const idle = 20

func main() {
	group := flag.String("cgroup", "", "cgroup to join")
	duration := flag.Duration("duration", time.Second, "how long it computes")
	flag.Parse()

	runtime.GOMAXPROCS(2)
	never := make(chan bool)
	var pipe [2]int
	protocol.Check(syscall.Pipe(pipe[:]))
	for i := 0; i < idle; i++ {
		go wait(never)
		go read(pipe[0])
	}
	time.Sleep(50 * time.Millisecond)
	protocol.Ready()
	protocol.Check(os.WriteFile(*group+"/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0))
	end := time.Now().Add(*duration)
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(1)
		go compute(end, &done)
	}
	done.Wait()
	protocol.Done(idle)
}

func wait(never chan bool) { <-never }

func read(fd int) { syscall.Read(fd, make([]byte, 1)) }

func compute(end time.Time, done *sync.WaitGroup) {
	defer done.Done()
	for time.Now().Before(end) {
	}
}
