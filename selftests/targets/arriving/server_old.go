//go:build !go1.24

package main

import "net/http"

func newServer(bool) *http.Server {
	return &http.Server{}
}
