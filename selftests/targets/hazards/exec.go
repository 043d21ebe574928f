package main

// This file makes the program execute itself again and again.

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	untilVariable = "HAZARDS_UNTIL" // when to stop, Unix time in ns
	executeWithin = 400 * time.Millisecond
)

func execute(duration time.Duration) {
	until, err := strconv.ParseInt(os.Getenv(untilVariable), 10, 64)
	if err != nil {
		protocol.Ready()
		until = time.Now().Add(duration).UnixNano()
		os.Setenv(untilVariable, strconv.FormatInt(until, 10))
	}
	work(time.Duration(time.Now().UnixNano()) % executeWithin)
	if time.Now().UnixNano() > until {
		protocol.Done(nil)
		return
	}
	protocol.Check(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
}
