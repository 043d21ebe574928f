// First is a plugin of the target plugins. It is built twice: second/second.go is a link to this file.
package main

import (
	"os"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	data []byte
)

// Work blocks on a mutex, a timer, a channel and in system calls, starts a goroutine, and allocates.
func Work(rounds int, file string) int {
	for i := 0; i < rounds; i++ {
		done := make(chan int)
		mu.Lock()
		time.Sleep(100 * time.Microsecond)
		data, _ = os.ReadFile(file)
		mu.Unlock()
		go helper(i, done)
		<-done
	}
	return len(data)
}

//go:noinline
func helper(i int, done chan<- int) {
	time.Sleep(200 * time.Microsecond)
	mu.Lock()
	mu.Unlock()
	done <- i
}

func main() {}
