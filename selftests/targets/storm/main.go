// Storm makes as much as it can of what a recorder turns into tasks: many calls of a function, one that
// calls itself, and goroutines that are created within one call, either all of which exist at once, or a
// few at a time.
//
//	storm -kind short|deep|together|passing [-n N]
//
// It speaks the handshake of package protocol; the done line is {"n":N}.
package main

import (
	"flag"
	"fmt"
	"sync"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const callers = 4 // goroutines of kind short, and those of kind passing that exist at a time

var kinds = map[string]func(n int){"short": short, "deep": deep, "together": together, "passing": passing}

func main() {
	kind := flag.String("kind", "", "what it does")
	n := flag.Int("n", 100000, "how `many` calls or goroutines, a multiple of 4")
	flag.Parse()
	run := kinds[*kind]
	if run == nil {
		protocol.Fail(fmt.Errorf("unknown kind %q", *kind))
	}
	protocol.Ready()
	run(*n)
	protocol.Done(map[string]int{"n": *n})
}

func short(n int) {
	var group sync.WaitGroup
	for i := 0; i < callers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < n/callers; j++ {
				one(j)
			}
		}()
	}
	group.Wait()
}

//go:noinline
func one(i int) int { return leaf(i) + 1 }

//go:noinline
func leaf(i int) int { return i * i }

// In a goroutine of its own, whose stack grows from the start.
func deep(n int) {
	done := make(chan int)
	go func() { done <- descend(n - 1) }()
	<-done
}

//go:noinline
func descend(n int) int {
	if n == 0 {
		return 0
	}
	return descend(n-1) + 1
}

//go:noinline
func together(n int) {
	var group sync.WaitGroup
	all := make(chan bool)
	for i := 0; i < n; i++ {
		group.Add(1)
		go waiter(&group, all)
	}
	close(all)
	group.Wait()
}

func waiter(group *sync.WaitGroup, all chan bool) {
	<-all
	group.Done()
}

//go:noinline
func passing(n int) {
	for i := 0; i < n/callers; i++ {
		var group sync.WaitGroup
		for j := 0; j < callers; j++ {
			group.Add(1)
			go passer(&group)
		}
		group.Wait()
	}
}

func passer(group *sync.WaitGroup) { group.Done() }
