package main

// This file has the phase with user annotations by runtime/trace while the runtime's tracer is off.
// Functions without an effect then, StartRegion and Logf, which check whether the tracer is on, are
// not counted here.

import (
	"context"
	"fmt"
	"runtime/trace"
	"sync"
)

func annotations() []claim {
	const goroutines, each = 7, 101
	gather(goroutines, func(g *sync.WaitGroup) { go annotator(g, each) })
	one, n := []string{"main.annotator"}, goroutines*each
	const why = "the runtime is told of each, and finds out by itself that its tracer is off"
	count := func(event, name string, n int) claim {
		return expect(event+" "+name, one, event, []string{name}, n, why)
	}
	return append(lives("main.annotator", goroutines),
		count("task", "request", n), count("task", "part", n), count("task-end", "request", n),
		count("task-end", "part", n), count("region", "outer", n), count("region-end", "outer", n),
		count("region", "inner", 2*n), count("region-end", "inner", 2*n),
		count("log", "number", n), count("log", "", n), expect("all logs", one, "log", nil, 2*n, why),
		expect("all regions", one, "region", nil, 3*n, why))
}

func annotator(group *sync.WaitGroup, n int) {
	for i := 0; i < n; i++ {
		ctx, task := trace.NewTask(context.Background(), "request")
		trace.Log(ctx, "number", fmt.Sprint(i))
		trace.Log(ctx, "", "no category")
		child, part := trace.NewTask(ctx, "part")
		trace.WithRegion(child, "outer", func() {
			trace.WithRegion(ctx, "inner", func() {})
			trace.WithRegion(ctx, "inner", func() {})
		})
		part.End()
		task.End()
	}
	group.Done()
}
