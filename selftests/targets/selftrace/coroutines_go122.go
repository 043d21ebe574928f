//go:build !go1.23

package main

// This file replaces the coroutine workers before Go 1.23, which has no coroutines.
func (w *workload) startCoroutines() {}
