package main

// This file has the DNS client: each query and each answer is a separate datagram.

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

const answerTimeout = 2 * time.Second

type dnsClient struct {
	connection
	names []string
}

func (c *dnsClient) greet(int64) error { return nil }

// The query for the IPv4 addresses of a name, with recursion desired.
func dnsQuery(id uint16, name string) []byte {
	query := []byte{byte(id >> 8), byte(id), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for _, label := range strings.Split(strings.TrimSuffix(name, "."), ".") {
		query = append(append(query, byte(len(label))), label...)
	}
	return append(query, 0, 0, 1, 0, 1)
}

func (c *dnsClient) exchange(n int) error {
	name := c.names[n%len(c.names)]
	id := uint16(n + 1)
	if _, err := c.Write(dnsQuery(id, name)); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	if err := c.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	size, err := c.Read(answer)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if size < 12 || binary.BigEndian.Uint16(answer) != id || answer[3]&15 != 0 ||
		binary.BigEndian.Uint16(answer[6:]) == 0 {
		return fmt.Errorf("%s: the answer is %x", name, answer[:size])
	}
	return nil
}
