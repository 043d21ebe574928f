//go:build cgo

package main

// #cgo CFLAGS: -fno-omit-frame-pointer -O1
//
// int call_go(int);
//
// // Not the last act of each, lest the compiler jump there.
// __attribute__((noinline)) static int below(int n) { return call_go(n) + 0 * n; }
// static int through_c(int n) { volatile int r = below(n); return r; }
import "C"

//export call_go
func call_go(n C.int) C.int {
	pause()
	return n + 1
}

func useC(n int) int { return int(C.through_c(C.int(n))) }
