package main

// This file has the workers with user annotations by runtime/trace: tasks and subtasks, nested
// regions, logs. With the runtime's tracer on, all functions of that package have an effect.

import (
	"context"
	"fmt"
	"runtime/trace"
	"strings"
	"time"
)

// longText exceeds the maximum length of a trace's string.
var longText = strings.Repeat("a message that is too long, ", 50)

func (w *workload) startAnnotators(n int) {
	for i := 0; i < n; i++ {
		i := i
		w.run(func() { w.annotator(i) })
	}
}

func (w *workload) annotator(id int) {
	for i := 0; w.pause(8 * time.Millisecond); i++ {
		w.counts.annotations.Add(1)
		ctx, task := trace.NewTask(context.Background(), fmt.Sprintf("request %d", id))
		trace.Log(ctx, "number", fmt.Sprint(i))
		trace.Log(ctx, "", "no category")
		trace.Log(ctx, "empty", "")
		trace.Logf(ctx, "formatted", "%d of %s", i, longText[:i%len(longText)])
		if i%16 == 0 {
			trace.Log(ctx, "long", longText)
		}
		w.annotatedRegions(ctx, i)
		task.End()
	}
}

func (w *workload) annotatedRegions(ctx context.Context, i int) {
	child, task := trace.NewTask(ctx, "part")
	region := trace.StartRegion(ctx, "started")
	trace.WithRegion(child, "outer", func() {
		time.Sleep(100 * time.Microsecond)
		for j := 0; j < i%4; j++ {
			trace.WithRegion(context.Background(), "of no task", func() {})
		}
		trace.WithRegion(child, longText[:200], func() { time.Sleep(50 * time.Microsecond) })
	})
	region.End()
	done := make(chan struct{})
	w.counts.goroutines.Add(1)
	go func() {
		defer close(done)
		trace.WithRegion(child, "elsewhere", func() {})
		task.End()
	}()
	<-done
}
