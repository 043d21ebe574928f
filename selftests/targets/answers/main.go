// Answers computes results that it verifies, all the time, and counts them where a test can read the
// number while it works: whether a program goes on, and answers correctly, during a fault of the
// recorder or of the machine. It is the target of `make faults`.
//
//	answers [-duration D] [-counter FILE] [-rate N] [-storm N]    until D has passed, or until SIGTERM
//
// SIGUSR1 makes it execute itself with the same arguments; it then begins at once, with 0 answers.
// FILE contains the number of answers, 8 bytes in the byte order of the machine, and is changed in
// memory that is mapped to it. -storm starts N children at a time, without pause. It speaks the
// handshake of package protocol; the claims of the done line are the exact numbers of workers. A wrong
// result ends it with a message and status 1.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	batch = 10 // answers between two looks at the clock
	again = "ANSWERS_AGAIN"
)

var stop atomic.Bool

func main() {
	duration := flag.Duration("duration", 10*time.Second, "how long to work")
	file := flag.String("counter", "", "count the answers in `FILE`")
	rate := flag.Int("rate", 2000, "answers per second")
	storm := flag.Int("storm", 0, "children to run at a time")
	flag.Parse()
	counter := mapCounter(*file)
	if os.Getenv(again) == "" {
		protocol.Ready()
	}
	go executeOnSignal()

	var group sync.WaitGroup
	var children atomic.Int64
	for i := 0; i < *storm; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			runChildren(&children)
		}()
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		select {
		case <-time.After(*duration):
		case <-end:
		}
		stop.Store(true)
	}()
	answers := answer(counter, *rate)
	group.Wait()
	protocol.Done(map[string]any{
		"go": runtime.Version(), "answers": answers, "children": children.Load(),
		"expect": []protocol.Claim{
			{Name: "created workers", Functions: []string{"main.worker"}, Event: "create", Count: answers,
				Why: "one go statement each"},
			{Name: "ended workers", Functions: []string{"main.worker"}, Event: "destroy", Count: answers,
				Why: "each returns"},
		},
	})
}

func executeOnSignal() {
	request := make(chan os.Signal, 1)
	signal.Notify(request, syscall.SIGUSR1)
	<-request
	protocol.Fail(syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), again+"=1")))
}

// mapCounter returns the number in the file, which is created; without a name, any number.
func mapCounter(name string) *int64 {
	if name == "" {
		return new(int64)
	}
	f := protocol.Must(os.Create(name))
	defer f.Close()
	protocol.Check(f.Truncate(8))
	memory := protocol.Must(syscall.Mmap(int(f.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED))
	return (*int64)(unsafe.Pointer(&memory[0]))
}

// answer asks one question after the other, and returns how many there were. After a pause of the
// process it continues at the same rate.
func answer(counter *int64, rate int) (n int) {
	for !stop.Load() {
		begin := time.Now()
		for i := 0; i < batch; i++ {
			ask(n)
			n++
			atomic.StoreInt64(counter, int64(n))
		}
		time.Sleep(time.Duration(batch)*time.Second/time.Duration(rate) - time.Since(begin))
	}
	return n
}

// ask has a goroutine of its own compute the sum of the numbers up to n modulo 500 on a stack that
// grows, and compares it with the formula.
func ask(n int) {
	reply := make(chan int)
	go worker(n%500, reply)
	if got, want := <-reply, (n%500)*(n%500+1)/2; got != want {
		protocol.Fail(fmt.Errorf("answer %d: %d instead of %d", n, got, want))
	}
}

func worker(n int, reply chan<- int) {
	reply <- sum(n)
}

//go:noinline
func sum(n int) int {
	if n == 0 {
		return 0
	}
	return n + sum(n-1)
}

func runChildren(count *atomic.Int64) {
	for !stop.Load() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			protocol.Fail(fmt.Errorf("child: %w", err))
		}
		count.Add(1)
	}
}
