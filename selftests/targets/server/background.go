package main

// This file has the background jobs: periodic ones, the journal on disk, a thread that waits in the
// kernel for a pipe.

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// every calls fn periodically until ctx ends.
func every(ctx context.Context, period time.Duration, fn func()) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fn()
		case <-ctx.Done():
			return
		}
	}
}

// expireCache keeps the cache small, so that there is work.
func (s *service) expireCache(ctx context.Context) {
	defer s.group.Done()
	every(ctx, 20*time.Millisecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.cache) - cacheSize
		if n < 8 {
			n = 8
		}
		for key := range s.cache {
			if n--; n < 0 {
				return
			}
			delete(s.cache, key)
		}
	})
}

// reportStatistics gathers a report from goroutines that it waits for.
func (s *service) reportStatistics(ctx context.Context) {
	defer s.group.Done()
	every(ctx, 50*time.Millisecond, func() {
		var group sync.WaitGroup
		for i := 0; i < 4; i++ {
			group.Add(1)
			go s.gatherStatistics(&group)
		}
		group.Wait()
	})
}

func (s *service) gatherStatistics(group *sync.WaitGroup) {
	defer group.Done()
	time.Sleep(time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	buffer := bytes.Buffer{}
	for key, body := range s.cache {
		buffer.WriteString(key)
		if len(body) > 16 {
			body = body[:16]
		}
		buffer.Write(body)
	}
}

func (s *service) collectGarbage(ctx context.Context) {
	defer s.group.Done()
	every(ctx, 250*time.Millisecond, runtime.GC)
}

// journal is an append-only file of the computed keys; its name is removed once it is open.
type journal struct {
	mu      sync.Mutex
	file    *os.File
	pending []byte
	entries atomic.Int64
}

func openJournal() (*journal, error) {
	f, err := os.CreateTemp("", "gotrace-server-*.journal")
	if err != nil {
		return nil, err
	}
	return &journal{file: f}, os.Remove(f.Name())
}

func (j *journal) append(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(append(j.pending, key...), '\n')
	j.entries.Add(1)
}

// flushJournal writes what is pending, syncs, and reads it back. It starts over before the
// file grows large.
func (s *service) flushJournal(ctx context.Context) {
	defer s.group.Done()
	j := s.journal
	offset := int64(0)
	every(ctx, 30*time.Millisecond, func() {
		j.mu.Lock()
		text := j.pending
		j.pending = nil
		j.mu.Unlock()
		n, _ := j.file.WriteAt(text, offset)
		j.file.Sync()
		j.file.ReadAt(make([]byte, n), offset)
		offset += int64(n)
		if offset > 1<<20 {
			j.file.Truncate(0)
			offset = 0
		}
	})
}

func (j *journal) close() { j.file.Close() }

// watchPipe reads from a pipe with a plain syscall that bypasses the network poller: its thread
// sleeps in the kernel and loses its P, as with a device or a C library.
func (s *service) watchPipe(ctx context.Context) {
	defer s.group.Done()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return
	}
	go feedPipe(ctx, fds[1])
	defer syscall.Close(fds[0])
	buf := make([]byte, 16)
	for {
		n, err := syscall.Read(fds[0], buf)
		if n == 0 || err != nil && err != syscall.EINTR {
			return
		}
	}
}

func feedPipe(ctx context.Context, fd int) {
	defer syscall.Close(fd)
	every(ctx, 25*time.Millisecond, func() { syscall.Write(fd, []byte("tick")) })
}
