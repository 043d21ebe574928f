// Lossy is a target for lost records: first a load that no small ring can hold, in which goroutines
// are created, exit and stay, then a quiet time, then a little countable work.
//
//	lossy [-load D] [-quiet D] [-stay N] [-late N] [-pause D]
//
// It speaks the handshake of package protocol. Its done line has the claims of the last part, for
// selftests/reference/cmd/truth, and the goroutines that exist at the end, with their states in the
// runtime's own words, for selftests/reference/cmd/alive; and the start of the last part, by
// CLOCK_MONOTONIC.
package main

import (
	"flag"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

type goroutine struct {
	ID    int    `json:"id"`
	State string `json:"state"`
}

type result struct {
	Cycles int64       `json:"cycles"`
	LateNS int64       `json:"late_ns"`
	Alive  []goroutine `json:"alive"`

	Expect []protocol.Claim `json:"expect"`
}

const yields = 5

var (
	cycles   atomic.Int64
	loading  atomic.Bool
	spinning atomic.Bool
	sink     atomic.Int64
)

func main() {
	load := flag.Duration("load", 3*time.Second, "how long the load takes")
	quiet := flag.Duration("quiet", 3*time.Second, "how long nothing happens after it")
	stay := flag.Int("stay", 500, "goroutines that the load leaves behind")
	late := flag.Int("late", 300, "goroutines of the last part")
	pause := flag.Duration("pause", time.Millisecond, "how long between two of them: a small ring is to hold this part")
	flag.Parse()

	protocol.Ready()
	for range [2]int{} { // from before the load until its end
		go waitForEver(make(chan int))
	}
	loading.Store(true)
	var group sync.WaitGroup
	for range [8]int{} {
		group.Add(1)
		go pingPong(&group)
	}
	begin := time.Now()
	for i := 0; time.Since(begin) < *load; i++ {
		for j := 0; j < 20; j++ {
			go passing()
		}
		if i < *stay {
			go waitForEver(make(chan int))
		}
		time.Sleep(*load / 1000)
	}
	spinning.Store(true)
	go spin() // started while records are lost, and has no later start event
	time.Sleep(20 * time.Millisecond)
	loading.Store(false)
	group.Wait()
	time.Sleep(*quiet)

	lateNS := clocks.Wall()
	var done sync.WaitGroup
	for i := 0; i < *late; i++ {
		done.Add(1)
		go lateWorker(&done)
		time.Sleep(*pause)
	}
	done.Wait()
	time.Sleep(100 * time.Millisecond)
	r := result{Cycles: cycles.Load(), LateNS: lateNS, Alive: alive(), Expect: claims(*late)}
	protocol.Done(&r)
	spinning.Store(false)
}

func claims(late int) []protocol.Claim {
	worker := []string{"main.lateWorker"}
	return []protocol.Claim{
		{Name: "created after the gap", Functions: worker, Event: "create", Count: late,
			Why: "one go statement each"},
		{Name: "ended after the gap", Functions: worker, Event: "destroy", Count: late,
			Why: "each returns"},
		{Name: "yields after the gap", Functions: worker, Event: "stop",
			Reasons: []string{"runtime.Gosched"}, Count: late * yields, Why: "runtime.Gosched"},
	}
}

func waitForEver(c chan int) { <-c }

func passing() { cycles.Add(1) }

func lateWorker(done *sync.WaitGroup) {
	for i := 0; i < yields; i++ {
		runtime.Gosched()
	}
	done.Done()
}

func spin() {
	for spinning.Load() {
		for i := int64(0); i < 1000; i++ {
			sink.Store(i)
		}
	}
}

func pingPong(group *sync.WaitGroup) {
	defer group.Done()
	there, back := make(chan int), make(chan int)
	go func() {
		for n := range there {
			back <- n
		}
	}()
	for loading.Load() {
		there <- 1
		<-back
		cycles.Add(1)
	}
	close(there)
}

var header = regexp.MustCompile(`(?m)^goroutine (\d+)(?: [^\[\n]*)?\[([^\],]*)`)

// alive parses a dump of all goroutines.
func alive() []goroutine {
	text := make([]byte, 8<<20)
	text = text[:runtime.Stack(text, true)]
	var all []goroutine
	for _, match := range header.FindAllSubmatch(text, -1) {
		id, _ := strconv.Atoi(string(match[1]))
		all = append(all, goroutine{id, string(match[2])})
	}
	return all
}
