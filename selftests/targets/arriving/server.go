//go:build go1.24

package main

import "net/http"

func newServer(h2 bool) *http.Server {
	server := &http.Server{}
	if h2 {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
	}
	return server
}
