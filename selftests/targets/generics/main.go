// Generics calls functions and methods that have several instances of one generic function, and counts
// the calls on the done line.
package main

import (
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

//go:noinline
func gen[E any](e E) { time.Sleep(time.Millisecond) }

type box[E any] struct{ e E }

//go:noinline
func (b *box[E]) open() { time.Sleep(time.Millisecond) }

type value struct{ a, b int }

//go:noinline
func (v value) run() { time.Sleep(time.Millisecond) }

func main() {
	calls := map[string]int{}
	protocol.Ready()
	for i := 0; i < 20; i++ {
		gen(i)
		gen("a")
		(&box[string]{}).open()
		(&box[int]{}).open()
		(&value{}).run()
		calls["main.gen[...]"] += 2
		calls["main.(*box[...]).open"] += 2
	}
	protocol.Done(calls)
}
