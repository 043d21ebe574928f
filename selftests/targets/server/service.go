package main

// This file is the service: requests are passed to workers over a channel and answered from a
// cache; changes are written to the journal and announced to subscribers.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	workers     = 4
	subscribers = 3
	cacheSize   = 512
)

type service struct {
	queue          chan *job
	journal        *journal
	news           *bulletin
	requests, jobs atomic.Int64
	group          sync.WaitGroup // of the goroutines that start starts

	mu    sync.Mutex // guards cache
	cache map[string][]byte
}

// job is one request on its way to a worker.
type job struct {
	key   string
	reply chan []byte
}

func newService() (*service, error) {
	j, err := openJournal()
	if err != nil {
		return nil, err
	}
	return &service{
		queue: make(chan *job), journal: j, news: newBulletin(), cache: map[string][]byte{},
	}, nil
}

// start starts everything behind the front end; all of it ends with ctx. Each goroutine has a start
// function of its own, to distinguish them in a trace.
func (s *service) start(ctx context.Context) {
	s.group.Add(workers + subscribers + 6)
	for i := 0; i < workers; i++ {
		go s.work(ctx)
	}
	for i := 0; i < subscribers; i++ {
		go s.subscribe(ctx)
	}
	go s.expireCache(ctx)
	go s.reportStatistics(ctx)
	go s.collectGarbage(ctx)
	go s.flushJournal(ctx)
	go s.watchPipe(ctx)
	go s.walkTables(ctx)
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/item", s.handleItem)
	mux.HandleFunc("/statistics", s.handleStatistics)
	return mux
}

func (s *service) handleItem(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	j := &job{key: r.FormValue("key"), reply: make(chan []byte, 1)}
	timeout := time.NewTimer(time.Second)
	defer timeout.Stop()
	select {
	case s.queue <- j:
	case <-timeout.C:
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	select {
	case body := <-j.reply:
		w.Write(body)
	case <-timeout.C:
		http.Error(w, "late", http.StatusGatewayTimeout)
	}
}

func (s *service) handleStatistics(w http.ResponseWriter, _ *http.Request) {
	json.NewEncoder(w).Encode(map[string]int64{
		"requests": s.requests.Load(), "jobs": s.jobs.Load(),
	})
}

// work is a worker of the pool.
func (s *service) work(ctx context.Context) {
	defer s.group.Done()
	for {
		select {
		case j := <-s.queue:
			j.reply <- s.lookUp(j.key)
			s.jobs.Add(1)
		case <-ctx.Done():
			return
		}
	}
}

// lookUp answers from the cache or computes. The lock is held throughout, which makes the workers
// contend.
func (s *service) lookUp(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body := s.cache[key]; body != nil {
		return body
	}
	body := compute(key)
	s.cache[key] = body
	s.journal.append(key)
	s.news.publish()
	return body
}

// compute creates an answer: some hashing, some garbage.
func compute(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	for i := 0; i < 200; i++ {
		sum = sha256.Sum256(sum[:])
	}
	text := make([]string, 0, 32)
	for _, b := range sum {
		text = append(text, fmt.Sprintf("%s-%02x", key, b))
	}
	body, _ := json.Marshal(text)
	return body
}

// closeNews ends the bulletin with ctx: it wakes all subscribers.
func (s *service) closeNews(ctx context.Context) {
	<-ctx.Done()
	s.news.close()
}

// subscribe follows the bulletin.
func (s *service) subscribe(ctx context.Context) {
	defer s.group.Done()
	go s.closeNews(ctx)
	for seen := 0; ; {
		n, open := s.news.next(seen)
		if !open {
			return
		}
		seen = n
	}
}

// bulletin announces that there is news, by sync.Cond.
type bulletin struct {
	mu     sync.Mutex
	cond   *sync.Cond
	number int
	closed bool
}

func newBulletin() *bulletin {
	b := &bulletin{}
	b.cond = sync.NewCond(&b.mu)
	return b
}

func (b *bulletin) publish() {
	b.mu.Lock()
	b.number++
	b.mu.Unlock()
	b.cond.Broadcast()
}

func (b *bulletin) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cond.Broadcast()
}

// next waits for news after number seen.
func (b *bulletin) next(seen int) (number int, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.number == seen && !b.closed {
		b.cond.Wait()
	}
	return b.number, !b.closed
}
