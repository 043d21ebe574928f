//go:build servers

// Package versitygw names the program that is built, so that go.mod keeps what it needs.
package versitygw

import _ "github.com/versity/versitygw/cmd/versitygw"
