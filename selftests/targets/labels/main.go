// Labels sets goroutine labels with package runtime/pprof, and logs after each change what they are,
// as gotrace-bpf writes them: a log of the category "expected" with the sorted labels. So each
// goroutine of a recording has the same messages twice, the recorder's and its own.
//
//	labels [-n N] [-goroutines N] [-forged] [-steady TIME]
//
// It speaks the handshake of package protocol; the done line is {"changes":N,"periods":{VALUE:N}},
// of the label "endpoint". Some goroutines get their labels before "ready". With -steady, goroutines
// get labels once, and log every 100 ms, in the category "still", that they have them.
package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	most  = 16   // labels that are recorded
	bytes = 1024 // of the message
)

var (
	rounds     = flag.Int("n", 50, "how many rounds")
	goroutines = flag.Int("goroutines", 4, "how many goroutines at a time")
	forgeries  = flag.Bool("forged", false, "only set labels that no program has")
	steadily   = flag.Duration("steady", 0, "only keep the same labels for so long")
	changes    atomic.Int64
)

func main() {
	flag.Parse()
	start := make(chan bool)
	var begun, ended sync.WaitGroup
	if *forgeries {
		forged(*rounds, start, &begun, &ended)
	}
	if *steadily > 0 {
		steady()
		return
	}
	for i := 0; i < *rounds && !*forgeries; i++ {
		for _, labels := range [][]string{{"early", strconv.Itoa(i), "same", "x"}, many(9), many(most), odd, huge, nil} {
			begun.Add(1)
			ended.Add(1)
			go early(labels, start, &begun, &ended)
		}
	}
	begun.Wait()
	protocol.Ready()
	close(start)
	ended.Wait()
	for i := 0; i < *rounds && !*forgeries; i++ {
		var group sync.WaitGroup
		for k := 0; k < *goroutines; k++ {
			group.Add(1)
			go worker(&group, i*(*goroutines)+k)
		}
		group.Wait()
	}
	workers := *rounds * *goroutines
	protocol.Done(map[string]any{
		"changes": changes.Load(),
		// the first label is interrupted by the second, and a child inherits it
		"periods": map[string]int{"/search": 3 * workers, "/inner": workers},
	})
}

// steady does not change labels; half of the goroutines inherit theirs.
func steady() {
	var group sync.WaitGroup
	protocol.Ready()
	still := func(ctx context.Context) {
		defer group.Done()
		for end := time.Now().Add(*steadily); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			trace.Log(ctx, "still", message(ctx))
		}
	}
	for i := 0; i < *goroutines; i++ {
		group.Add(2)
		go pprof.Do(context.Background(), pprof.Labels("steady", strconv.Itoa(i)), func(ctx context.Context) {
			go still(ctx)
			still(ctx)
		})
	}
	group.Wait()
	protocol.Done(map[string]any{})
}

var (
	odd  = []string{"quotes", "a \"b\" \\ \n\x00\xff é\u200b", "odd key=", "x", "", "empty", "...", "dots"}
	huge = []string{"huge", strings.Repeat("h", 100_000), "small", "s"}
)

// early gets labels before the recording begins, and has a child that inherits them.
func early(labels []string, start chan bool, begun, ended *sync.WaitGroup) {
	defer ended.Done()
	wait := func(ctx context.Context, done func()) {
		done()
		<-start
		if labels != nil {
			note(ctx)
		}
	}
	if labels == nil {
		wait(context.Background(), begun.Done)
		return
	}
	pprof.Do(context.Background(), pprof.Labels(labels...), func(ctx context.Context) {
		begun.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			wait(ctx, begun.Done)
		}()
		wait(ctx, begun.Done)
	})
	note(context.Background())
}

// worker sets labels of all kinds.
func worker(group *sync.WaitGroup, i int) {
	defer group.Done()
	ctx := context.Background()
	do(ctx, []string{"endpoint", "/search", "worker", strconv.Itoa(i)}, func(ctx context.Context) {
		do(ctx, []string{"endpoint", "/inner", "a", ""}, func(context.Context) { runtime.Gosched() })
		done := make(chan bool)
		go func() { // inherits: its changes are those of a goroutine that has labels
			do(ctx, []string{"child", "yes"}, func(context.Context) {})
			close(done)
		}()
		<-done
		do(ctx, many(7), func(ctx context.Context) {
			do(ctx, many(most-2), func(context.Context) {})
		})
	})
	do(ctx, many(9), func(context.Context) {})
	do(ctx, many(most), func(context.Context) {})
	do(ctx, odd, func(context.Context) {})
	do(ctx, huge, func(context.Context) {})
	do(ctx, []string{"k1", strings.Repeat("1", 500), "k2", strings.Repeat("2", 505), "k3", "3"},
		func(context.Context) {})
	do(ctx, []string{strings.Repeat("k", 70), strings.Repeat("v", 65)}, func(context.Context) {})
}

// many returns n labels; the maps of Go 1.23 and before have 8 in a bucket.
func many(n int) (list []string) {
	for k := 0; k < n; k++ {
		list = append(list, fmt.Sprintf("key%02d", (k*7)%n), strconv.Itoa(k))
	}
	return list
}

func do(ctx context.Context, labels []string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(labels...), func(inner context.Context) {
		note(inner)
		f(inner)
	})
	note(ctx)
}

// note logs the labels that the goroutine has got.
func note(ctx context.Context) {
	changes.Add(1)
	trace.Log(ctx, "expected", message(ctx))
}

func message(ctx context.Context) string {
	pairs := map[string]string{}
	pprof.ForLabels(ctx, func(key, value string) bool {
		pairs[key] = value
		return true
	})
	keys := make([]string, 0, len(pairs))
	for key := range pairs {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var text string
	cut := false
	for _, key := range keys {
		longer := text
		if longer != "" {
			longer += ", "
		}
		longer += name(key) + "=" + strconv.Quote(pairs[key])
		if len(longer) > bytes-len(", ...") {
			cut = true
			continue
		}
		text = longer
	}
	if cut && text != "" {
		text += ", "
	}
	if cut {
		text += "..."
	}
	return text
}

func name(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:/-", r)
	}
	if key == "" || key[0] == '.' || strings.TrimFunc(key, plain) != "" {
		return strconv.Quote(key)
	}
	return key
}
