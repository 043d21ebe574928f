//go:build !go1.23

package main

// This file stands in for the coroutine workers before Go 1.23, which has none.
func (w *workload) startCoroutines() {}
