//go:build !go1.25

package main

import (
	"errors"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

func startFlight(string, time.Duration) func() {
	protocol.Fail(errors.New("Go before 1.25 has no flight recorder"))
	return nil
}
