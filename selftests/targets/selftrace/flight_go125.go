//go:build go1.25

package main

import (
	"os"
	"runtime/trace"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

// startFlight starts the runtime's own flight recorder with a window of at least age, and returns a
// function that writes the window to the file and stops it.
func startFlight(file string, age time.Duration) func() {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: age, MaxBytes: 256 << 20})
	if err := recorder.Start(); err != nil {
		protocol.Check(err)
	}
	return func() {
		f := protocol.Must(os.Create(file))
		protocol.Must(recorder.WriteTo(f))
		recorder.Stop()
		protocol.Check(f.Close())
	}
}
