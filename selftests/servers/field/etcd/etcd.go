//go:build servers

// Package etcd names the program that is built, so that go.mod keeps what it needs.
package etcd

import _ "go.etcd.io/etcd/server/v3"
