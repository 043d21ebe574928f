// Exits measures what the calls of a function take that a recorder turns into regions: of one whose
// return follows a call, so that the kernel single-steps it, and of one whose exit the kernel emulates.
//
//	exits [-n N] returns|branches
//
// It speaks the handshake of package protocol; the done line is {"cpu_ns_per_call": NS}.
package main

import (
	"flag"
	"fmt"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	n := flag.Int("n", 100000, "how many `calls`")
	flag.Parse()
	call := map[string]func(int, int) int{"returns": returns, "branches": branches}[flag.Arg(0)]
	if call == nil {
		protocol.Fail(fmt.Errorf("usage: exits [-n N] returns|branches"))
	}
	protocol.Ready()
	sum, start := 0, protocol.CPU()
	for i := 0; i < *n; i++ {
		sum += call(i, sum)
	}
	protocol.Done(map[string]any{"cpu_ns_per_call": float64(protocol.CPU()-start) / float64(*n), "sum": sum})
}

//go:noinline
func returns(i, j int) int {
	return i ^ work(j)
}

//go:noinline
func branches(i, j int) int {
	i += work(j)
	if i > 9 {
		return i ^ j
	}
	return i * 3
}

//go:noinline
func work(i int) int { return i - 1 }
