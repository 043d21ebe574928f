// Annotate uses package runtime/trace in extreme ways, while the runtime's tracer is off: very many
// messages and names, deeply nested regions, texts whose page is not in memory yet, and unreadable
// ones, which are not recorded.
//
//	annotate [-messages N] [-size BYTES] [-names N] [-deep N]
//
// It speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/trace"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

var (
	messages = flag.Int("messages", 1000, "how many messages, each another one")
	size     = flag.Int("size", 1000, "bytes of a message")
	names    = flag.Int("names", 100, "how many names of regions")
	deep     = flag.Int("deep", 100, "how many regions in each other")
)

func main() {
	flag.Parse()
	protocol.Ready()
	var group sync.WaitGroup
	group.Add(1)
	go annotator(&group)
	group.Wait()
	time.Sleep(20 * time.Millisecond) // so that the trace contains its end
	one := []string{"main.annotator"}
	claim := func(event, name string, n int) protocol.Claim {
		c := protocol.Claim{Name: event + " " + name, Functions: one, Event: event, Count: n}
		if name != "" {
			c.Reasons = []string{name}
		}
		return c
	}
	regions := *names + min(*deep, 1024) // deeper ones are not recorded
	protocol.Done(map[string]any{"expect": []protocol.Claim{
		claim("log", "many", *messages), claim("log", coldText, 0), claim("log", "(text not recorded)", 2),
		claim("region", "", regions), claim("region-end", "", regions),
		claim("region", "deep", min(*deep, 1024)), claim("region", "name 7 of many", 1),
	}})
}

func min(a, b int) int { // since Go 1.21 there is a builtin
	if a < b {
		return a
	}
	return b
}

func annotator(group *sync.WaitGroup) {
	defer group.Done()
	ctx := context.Background()
	filler := strings.Repeat("x", *size)
	for i := 0; i < *messages; i++ {
		trace.Log(ctx, "many", fmt.Sprint(i, " ", filler)[:*size])
		if i%500 == 499 {
			time.Sleep(time.Millisecond)
		}
	}
	for i := 0; i < *names; i++ {
		trace.WithRegion(ctx, fmt.Sprintf("name %d of many", i), func() {})
	}
	nested(ctx, *deep)
	trace.Log(ctx, mapped(syscall.PROT_READ), "cold")
	trace.Log(ctx, mapped(syscall.PROT_NONE), "unreadable")
}

func nested(ctx context.Context, n int) {
	if n > 0 {
		trace.WithRegion(ctx, "deep", func() { nested(ctx, n-1) })
	}
}

const coldText = "a text that nobody has read"

// mapped returns coldText in a page of its own, which is not in memory.
func mapped(protection int) string {
	f := protocol.Must(os.CreateTemp("", "annotate"))
	defer os.Remove(f.Name())
	protocol.Must(f.WriteString(coldText + strings.Repeat("\x00", 4096-len(coldText))))
	page := protocol.Must(syscall.Mmap(int(f.Fd()), 0, 4096, protection, syscall.MAP_PRIVATE))
	page = page[:len(coldText)]
	return *(*string)(unsafe.Pointer(&page))
}
