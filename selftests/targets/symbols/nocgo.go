//go:build !cgo

package main

func useC(n int) int {
	pause()
	return n + 1
}
