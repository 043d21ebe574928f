//go:build delve

// Package delve imports the debugger to build, so that go.mod keeps its dependencies.
package delve

import _ "github.com/go-delve/delve/cmd/dlv"
