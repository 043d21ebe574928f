package main

// This file is the load: clients that ask the server for items, half of them popular ones.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const clients = 8

// startClients makes about rate requests per second in total until ctx ends.
func startClients(ctx context.Context, group *sync.WaitGroup, url string, rate int) {
	if rate <= 0 {
		return
	}
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	period := time.Second * clients / time.Duration(rate)
	group.Add(clients)
	for i := 0; i < clients; i++ {
		go runClient(ctx, group, &http.Client{Transport: transport}, url, period, i)
	}
}

func runClient(ctx context.Context, group *sync.WaitGroup, c *http.Client, url string,
	period time.Duration, id int) {
	defer group.Done()
	for n := 0; ctx.Err() == nil; n++ {
		// Popular items are found in the cache, the others are computed.
		key := fmt.Sprintf("popular-%d", n%5)
		if n%2 == 0 {
			key = fmt.Sprintf("rare-%d-%d", id, n)
		}
		get(ctx, c, url+"/item?key="+key)
		if n%50 == 0 {
			get(ctx, c, url+"/statistics")
		}
		select {
		case <-time.After(period):
		case <-ctx.Done():
		}
	}
}

// get reads one answer. Failures are ignored: this is only load.
func get(ctx context.Context, c *http.Client, url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	response, err := c.Do(request)
	if err != nil {
		return
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}
