//go:build go1.23

package main

import "iter"

// Without a coroutine the program has no runtime.coro.
func init() {
	_, stop := iter.Pull(func(yield func(int) bool) {})
	stop()
}
