//go:build go1.23

// The module's language version is older than the toolchain, which selects the timer channels of Go
// 1.22; the trace should be that of current programs.
//go:debug asynctimerchan=0

package main

// This file merges sorted tables by pulling from iterators, which are coroutines.

import (
	"context"
	"iter"
	"time"
)

// walkTables periodically merges two tables.
func (s *service) walkTables(ctx context.Context) {
	defer s.group.Done()
	every(ctx, 100*time.Millisecond, func() { mergeTables(multiples(3, 60), multiples(5, 60)) })
}

// mergeTables counts the distinct numbers of two ascending sequences.
func mergeTables(a, b iter.Seq[int]) (n int) {
	nextA, stopA := iter.Pull(a)
	defer stopA()
	nextB, stopB := iter.Pull(b)
	defer stopB()
	x, okA := nextA()
	y, okB := nextB()
	for ; okA && okB; n++ {
		switch {
		case x < y:
			x, okA = nextA()
		case y < x:
			y, okB = nextB()
		default:
			x, okA = nextA()
			y, okB = nextB()
		}
	}
	return n
}

func multiples(of, end int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < end && yield(i); i += of {
		}
	}
}
