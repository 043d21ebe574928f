//go:build servers

// Package servers imports the programs to build, so that go.mod keeps their dependencies.
package servers

import (
	_ "github.com/mochi-mqtt/server/v2/cmd"
	_ "github.com/nats-io/nats-server/v2"
)
