package main

// This file has the HTTP client. It does not use net/http, whose connection pool would decide when
// a connection ends.

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

type httpClient struct {
	connection
	host  string
	paths []string
}

func (c *httpClient) greet(int64) error { return nil }

func (c *httpClient) exchange(n int) error {
	path := "/"
	if len(c.paths) > 0 {
		path = c.paths[n%len(c.paths)]
	}
	path, body, post := strings.Cut(path, " ")
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, c.host)
	if post {
		request = fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n%s", path, c.host, len(body), body)
	}
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return nil
}
