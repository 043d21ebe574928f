//go:build !go1.25

package main

import (
	"errors"
	"time"
)

func startFlight(string, time.Duration) func() {
	must(0, errors.New("Go before 1.25 has no flight recorder"))
	return nil
}
