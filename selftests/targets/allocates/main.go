// Allocates is a target whose allocations are known: it counts them by type and by the goroutine that
// makes them, and traces itself.
//
//	GODEBUG=traceallocfree=1 allocates -trace FILE [-n N]
//	allocates -sampled [-n N]
//
// It speaks the handshake of package protocol. Garbage is collected only where the program asks for
// it. The done line also has runtime.MemStats of three moments, each between two logs of the category
// "mark", NAME and "NAME read". All that main.leaker allocates, between "leak begins" and "leak ends",
// stays alive.
//
// With -sampled it does not trace itself, and the done line is {"sampled":N}: how many allocations of
// main.sampled are in the runtime's memory profile.
package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type ticket struct { // 64 bytes, with a pointer
	next *ticket
	data [56]byte
}

type invoice struct { // behind a header, in a slot of 1152 bytes
	next *ticket
	data [1080]byte
}

type stamp [24]byte // without pointers

type page [40000]byte // a span of its own: 5 pages

// sum is what a type or a goroutine allocated.
type sum struct {
	Objects int `json:"objects"`
	Bytes   int `json:"bytes"` // of slots
	Freed   int `json:"freed"` // objects
}

// statistics are those of runtime.MemStats: all allocations since the start, and the live heap.
type statistics struct {
	Allocated sum `json:"allocated"`
	Live      sum `json:"live"`
}

var (
	number = flag.Int("n", 1000, "how many objects of each kind")
	early  []*ticket // from before the trace
	keep   struct {
		tickets  []*ticket
		invoices []*invoice
		pages    []*page
	}
	group sync.WaitGroup
)

// keeper allocates tickets and pages that stay.
func keeper() {
	defer group.Done()
	for i := 0; i < *number; i++ {
		keep.tickets = append(keep.tickets, new(ticket))
	}
	for i := 0; i < *number/100; i++ {
		keep.pages = append(keep.pages, new(page))
	}
}

// spender allocates stamps, tickets and pages of which nothing stays. It has a label, as gotrace-bpf
// records it.
func spender() {
	defer group.Done()
	trace.Log(context.Background(), "goroutine labels", `work="spend"`)
	for i := 0; i < *number; i++ {
		s, t := new(stamp), new(ticket)
		sinkStamp, sinkTicket = s, t
	}
	for i := 0; i < *number/100; i++ {
		sinkPage = new(page)
	}
	sinkStamp, sinkTicket, sinkPage = nil, nil, nil
}

var (
	sinkStamp  *stamp
	sinkTicket *ticket
	sinkPage   *page
)

// leaker allocates invoices that stay.
func leaker() {
	defer group.Done()
	for i := 0; i < *number; i++ {
		keep.invoices = append(keep.invoices, new(invoice))
	}
}

// sampled allocates pages and tickets, of which the memory profile has one per 512 KiB on average.
func sampled() {
	defer group.Done()
	for i := 0; i < *number; i++ {
		sinkPage = new(page)
		for k := 0; k < 100; k++ {
			sinkTicket = new(ticket)
		}
	}
}

// inProfile counts the samples whose stack contains a function; garbage collections publish them.
func inProfile(function string) (n int64) {
	records := make([]runtime.MemProfileRecord, 10000)
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	found, ok := runtime.MemProfile(records, true)
	if !ok {
		protocol.Fail(fmt.Errorf("%d records", found))
	}
	for _, r := range records[:found] {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == function {
				n += r.AllocObjects
				break
			}
		}
	}
	return n
}

func run(work ...func()) {
	group.Add(len(work))
	for _, f := range work {
		go f()
	}
	group.Wait()
}

func mark(text string) { trace.Log(context.Background(), "mark", text) }

// read allocates nothing itself, but the runtime may create a thread when it starts the world again.
func read(name string) statistics {
	mark(name)
	runtime.ReadMemStats(&memStats)
	mark(name + " read")
	s := &memStats
	return statistics{sum{int(s.Mallocs), int(s.TotalAlloc), 0}, sum{int(s.HeapObjects), int(s.HeapAlloc), 0}}
}

var memStats runtime.MemStats

func main() {
	file := flag.String("trace", "", "write the runtime's own trace to `FILE`")
	sampling := flag.Bool("sampled", false, "only count the samples of the memory profile")
	flag.Parse()
	if *sampling {
		protocol.Ready()
		run(sampled)
		protocol.Done(map[string]int64{"sampled": inProfile("main.sampled")})
		return
	}
	debug.SetGCPercent(-1)
	runtime.MemProfileRate = 0
	n := *number
	for i := 0; i < n; i++ {
		early = append(early, new(ticket))
	}
	keep.tickets = make([]*ticket, 0, n)
	keep.invoices = make([]*invoice, 0, n)
	keep.pages = make([]*page, 0, n)
	protocol.Ready()

	stop := protocol.Trace(*file)
	begin := read("begin")
	run(keeper, spender)
	end := read("end")
	early = nil
	runtime.GC()
	mark("leak begins")
	run(leaker)
	mark("leak ends")
	runtime.GC()
	last := read("last")
	stop()
	runtime.KeepAlive(keep)

	large, slot := n/100, 1152
	protocol.Done(map[string]any{
		"types": map[string]sum{
			"main.ticket":  {2 * n, 2 * n * 64, n + n},
			"main.stamp":   {n, n * 24, n},
			"main.invoice": {n, n * slot, 0},
			"main.page":    {2 * large, 2 * large * 40960, large},
		},
		"functions": map[string]sum{
			"main.keeper":  {n + large, n*64 + large*40960, 0},
			"main.spender": {2*n + large, n*(64+24) + large*40960, 2*n + large},
			"main.leaker":  {n, n * slot, 0},
		},
		"statistics": map[string]statistics{"begin": begin, "end": end, "last": last},
	})
}
