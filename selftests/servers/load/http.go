package main

// This file holds the HTTP client. It is not net/http's, whose pool of connections would decide when
// a connection ends.

import (
	"fmt"
	"io"
	"net/http"
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
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, c.host); err != nil {
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
