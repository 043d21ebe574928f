// Plugins is a program whose goroutines work in the functions of plugins (-buildmode=plugin), which are
// built from its folders first and second. It loads the files that are its arguments before it says that
// it is ready, and that of -late while it works.
//
// It speaks the handshake of package protocol; the done line claims numbers like truth's, and has the
// time at which it began to load the late plugin.
package main

import (
	"flag"
	"os"
	"plugin"
	"runtime"
	"time"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

const workers = 3

type work = func(rounds int, file string) int

func load(name string) work {
	p := protocol.Must(plugin.Open(name))
	return protocol.Must(p.Lookup("Work")).(work)
}

// Calls the plugins in turn until the time has come, and returns how many rounds each did.
func run(works []work, until time.Time) int {
	done := make(chan int)
	for i := 0; i < workers; i++ {
		go worker(works, until, done)
	}
	sum := 0
	for i := 0; i < workers; i++ {
		sum += <-done
	}
	return sum
}

func worker(works []work, until time.Time, done chan<- int) {
	rounds := 0
	for time.Now().Before(until) {
		for _, w := range works {
			w(1, "/proc/self/stat")
		}
		rounds++
	}
	done <- rounds
}

func main() {
	late := flag.String("late", "", "load this `plugin` after 300 ms")
	pause := flag.Duration("pause", time.Second, "work so long with it before the trace")
	trace := flag.String("trace", "", "trace into this `file`")
	duration := flag.Duration("duration", time.Second, "work so long")
	flag.Parse()

	var works []work
	var opened int64
	for _, name := range flag.Args() {
		works = append(works, load(name))
	}
	works = append(works, func(int, string) int { time.Sleep(time.Millisecond); return 0 })
	protocol.Ready()
	rounds := 0
	if *late != "" {
		rounds += run(works, time.Now().Add(300*time.Millisecond))
		opened = clocks.Wall()
		works = append(works, load(*late))
		run(works, time.Now().Add(*pause))
	}
	stop := protocol.Trace(*trace)
	rounds += run(works, time.Now().Add(*duration))
	runtime.GC()
	stop()
	result := map[string]any{"go": runtime.Version(), "rounds": rounds, "opened": opened}
	if *late == "" && len(flag.Args()) > 0 {
		const first = "gotrace-bpf/selftests/targets/plugins/first."

		result["expect"] = []protocol.Claim{
			{Name: "created", Functions: []string{first + "helper"}, Event: "create",
				Count: rounds, Why: "one go statement in each round"},
			{Name: "finished", Functions: []string{first + "helper"}, Event: "destroy",
				Count: rounds, Why: "all have returned"},
			{Name: "sleeps", Functions: []string{first + "helper"}, Event: "block",
				Reasons: []string{"sleep"}, Count: rounds, Why: "each sleeps once"},
		}
	}
	protocol.Done(result)
	os.Exit(0)
}
