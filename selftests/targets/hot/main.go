// Hot keeps the scheduler's central functions busy and writes a CPU profile for building other
// targets: the compiler inlines hot functions, so in such a build some of the functions that the
// recorder probes are inlined.
//
//	hot -profile FILE [-work LIST] [-duration D]
//
// It does one kind of work of LIST after the other, each for D. It does not speak the targets'
// handshake: it runs while the tests' programs are built (selftests/programs.lib.sh).
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"time"
)

var work = map[string]func(quit <-chan struct{}, group *sync.WaitGroup){
	"channels": channels, "syscalls": syscalls, "pipes": pipes, "spawns": spawns,
	"yields": yields, "locks": locks, "sleeps": sleeps, "garbage": garbage,
}

func main() {
	file := flag.String("profile", "", "write the CPU profile to `FILE`")
	list := flag.String("work", "channels,syscalls,pipes,spawns,yields,locks,sleeps,garbage",
		"what to do, a comma-separated `LIST`")
	duration := flag.Duration("duration", time.Second, "how long to do each")
	flag.Parse()
	runtime.GOMAXPROCS(2)
	out, err := os.Create(*file)
	check(err)
	check(pprof.StartCPUProfile(out))
	for _, name := range strings.Split(*list, ",") {
		if work[name] == nil {
			check(fmt.Errorf("hot: no work %q", name))
		}
		var group sync.WaitGroup
		quit := make(chan struct{})
		for i := 0; i < 2; i++ {
			work[name](quit, &group)
		}
		time.Sleep(*duration)
		close(quit)
		group.Wait()
	}
	pprof.StopCPUProfile()
	check(out.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// loop runs f repeatedly in a goroutine, until quit is closed.
func loop(quit <-chan struct{}, group *sync.WaitGroup, f func()) {
	group.Add(1)
	go func() {
		defer group.Done()
		for {
			select {
			case <-quit:
				return
			default:
				f()
			}
		}
	}()
}

func channels(quit <-chan struct{}, group *sync.WaitGroup) {
	there, back := make(chan int), make(chan int)
	loop(quit, group, func() {
		select {
		case there <- 1:
			<-back
		case <-quit:
		}
	})
	loop(quit, group, func() {
		select {
		case v := <-there:
			back <- v
		case <-quit:
		}
	})
}

func syscalls(quit <-chan struct{}, group *sync.WaitGroup) {
	loop(quit, group, func() {
		for i := 0; i < 1000; i++ {
			syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
		}
	})
}

// pipes has two goroutines meet over pipes of the network poller, and two over pipes whose reads
// block in the kernel.
func pipes(quit <-chan struct{}, group *sync.WaitGroup) {
	r, w, err := os.Pipe()
	check(err)
	loop(quit, group, func() { w.Write([]byte{1}); runtime.Gosched() })
	loop(quit, group, func() { r.Read(make([]byte, 1)) })
	var fds [2]int
	check(syscall.Pipe(fds[:]))
	loop(quit, group, func() { syscall.Write(fds[1], []byte{1}); runtime.Gosched() })
	loop(quit, group, func() { syscall.Read(fds[0], make([]byte, 1)) })
	group.Add(1)
	go func() {
		defer group.Done()
		<-quit
		time.Sleep(10 * time.Millisecond)
		w.Write([]byte{1})
		syscall.Write(fds[1], []byte{1})
	}()
}

func spawns(quit <-chan struct{}, group *sync.WaitGroup) {
	loop(quit, group, func() {
		var children sync.WaitGroup
		children.Add(100)
		for i := 0; i < 100; i++ {
			go children.Done()
		}
		children.Wait()
	})
}

func yields(quit <-chan struct{}, group *sync.WaitGroup) {
	for i := 0; i < 2; i++ {
		loop(quit, group, runtime.Gosched)
	}
}

func locks(quit <-chan struct{}, group *sync.WaitGroup) {
	var mutex sync.Mutex
	for i := 0; i < 4; i++ {
		loop(quit, group, func() {
			mutex.Lock()
			runtime.Gosched()
			mutex.Unlock()
		})
	}
}

// sleeps keeps the threads going to sleep and being woken: Ps are acquired and released.
func sleeps(quit <-chan struct{}, group *sync.WaitGroup) {
	for i := 0; i < 10; i++ {
		loop(quit, group, func() { time.Sleep(20 * time.Microsecond) })
	}
}

var kept [2]any

func garbage(quit <-chan struct{}, group *sync.WaitGroup) {
	loop(quit, group, func() {
		type node struct {
			next *node
			data [6]uint64
		}
		var list *node
		for i := 0; i < 10000; i++ {
			list = &node{next: list}
		}
		kept[0] = list
	})
}
