//go:build !go1.23

package main

import (
	"context"
	"time"
)

// This file replaces the tables before Go 1.23, which has no coroutines.
func (s *service) walkTables(ctx context.Context) {
	defer s.group.Done()
	every(ctx, 100*time.Millisecond, func() {})
}
