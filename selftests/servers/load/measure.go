package main

// This file has the measurement: how many requests were answered in which time.

import (
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	took []time.Duration
)

func note(d time.Duration) {
	mu.Lock()
	took = append(took, d)
	mu.Unlock()
}

func report(passed time.Duration) {
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	at := func(percent int) int64 {
		if len(took) == 0 {
			return 0
		}
		return took[len(took)*percent/100].Nanoseconds()
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": len(took), "seconds": passed.Seconds(),
		"per_second": float64(len(took)) / passed.Seconds(), "p50_ns": at(50), "p99_ns": at(99),
	})
}
