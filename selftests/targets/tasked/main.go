// Tasked calls functions that a recorder turns into tasks, and counts the calls: tasks in each other,
// recursion, panics that are recovered, goroutines that exit inside, tasks and regions of its own around
// and inside of them, and goroutines that are created in a task.
//
//	tasked [-trace FILE] [-n N]
//
// With -trace the runtime traces it, and the functions annotate themselves with package runtime/trace, so
// that both traces can be compared; the names of these tasks are those of the functions.
// It speaks the handshake of package protocol; the done line is {"expect":[...]}, see protocol.Claim.
package main

import (
	"context"
	"flag"
	"runtime"
	"runtime/trace"
	"sync"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	steps = 3  // calls of step in each serve
	deep  = 20 // calls of dig in each other; they need more than the first stack
	fan   = 2  // goroutines that each spawn creates, and each of those again
)

var (
	rounds    = flag.Int("n", 100, "how many goroutines of each kind")
	file      = flag.String("trace", "", "have the runtime trace it, into `FILE`")
	annotates bool
	none      = context.Background()
)

func main() {
	flag.Parse()
	annotates = *file != ""
	protocol.Ready()
	stop := protocol.Trace(*file)
	for i := 0; i < *rounds; i++ {
		var group sync.WaitGroup
		group.Add(2)
		go server(&group)
		go exiting(&group)
		if !annotates {
			group.Add(3)
			go mixing(&group)
			go spawning(&group)
			go detaching(&group)
		}
		group.Wait()
	}
	stop()
	protocol.Done(map[string]any{"expect": expected(*rounds)})
}

// expected lists the tasks and regions if all functions are tasks, and compute is a region.
func expected(n int) (expect []protocol.Claim) {
	claim := func(goroutine, event, name string, n int) {
		expect = append(expect, protocol.Claim{Name: goroutine + ": " + event + " " + name,
			Functions: []string{"main." + goroutine}, Event: event, Reasons: []string{name}, Count: n})
	}
	task := func(goroutine, name string, n int) {
		for _, event := range []string{"task", "task-end", "region", "region-end"} {
			claim(goroutine, event, name, n)
		}
	}
	task("server", "main.serve", n)
	task("server", "main.step", n*steps)
	task("server", "main.dig", n*deep)
	task("server", "main.catch", n)
	task("server", "main.throw", n*2)
	task("exiting", "main.leave", 3*n)
	claim("server", "region", "main.compute", n*steps)
	claim("server", "region-end", "main.compute", n*steps)
	if !annotates {
		task("mixing", "main.within", n)
		task("mixing", "main.around", n)
		for _, event := range []string{"task", "task-end", "region", "region-end"} {
			claim("mixing", event, "own", 2*n)
		}
		task("spawning", "main.spawn", n)
		task("detaching", "main.detach", n)
	}
	return expect
}

// begin annotates a call of a function, which passes its context on to those that it calls.
func begin(ctx context.Context, name string) (context.Context, *trace.Task) {
	if !annotates {
		return ctx, nil
	}
	return trace.NewTask(ctx, name)
}

func end(task *trace.Task) {
	if task != nil {
		task.End()
	}
}

func server(group *sync.WaitGroup) {
	defer group.Done()
	serve(none)
}

//go:noinline
func serve(ctx context.Context) (sum int) {
	ctx, task := begin(ctx, "main.serve")
	for i := 0; i < steps; i++ {
		sum += step(ctx, i)
	}
	sum += dig(ctx, deep-1) + catch(ctx)
	end(task)
	return sum
}

//go:noinline
func step(ctx context.Context, i int) int {
	_, task := begin(ctx, "main.step")
	i = compute(i)
	end(task)
	return i
}

//go:noinline
func compute(i int) int {
	runtime.Gosched()
	return i * i
}

//go:noinline
func dig(ctx context.Context, n int) int {
	var frame [512]byte
	ctx, task := begin(ctx, "main.dig")
	frame[n] = 1
	if n > 0 {
		n = dig(ctx, n-1) + int(frame[n])
	}
	end(task)
	return n
}

//go:noinline
func catch(ctx context.Context) (caught int) {
	ctx, task := begin(ctx, "main.catch")
	func() {
		defer func() {
			if recover() != nil {
				caught = 1
			}
		}()
		throw(ctx, 1)
	}()
	end(task)
	return caught
}

//go:noinline
func throw(ctx context.Context, n int) int {
	ctx, task := begin(ctx, "main.throw")
	defer end(task)
	if n == 0 {
		panic("thrown on purpose")
	}
	return throw(ctx, n-1) + 1
}

func exiting(group *sync.WaitGroup) {
	defer group.Done()
	leave(none, 2)
}

//go:noinline
func leave(ctx context.Context, n int) {
	ctx, task := begin(ctx, "main.leave")
	defer end(task)
	if n == 0 {
		runtime.Goexit()
	}
	leave(ctx, n-1)
	runtime.Gosched()
}

// The program's own task around a call, and within one.
func mixing(group *sync.WaitGroup) {
	defer group.Done()
	own(within)
	around()
}

func own(f func()) {
	ctx, task := trace.NewTask(none, "own")
	trace.WithRegion(ctx, "own", f)
	task.End()
}

//go:noinline
func within() { runtime.Gosched() }

//go:noinline
func around() { own(runtime.Gosched) }

func spawning(group *sync.WaitGroup) {
	defer group.Done()
	spawn()
}

// spawn creates goroutines that create others and end before the task does.
//
//go:noinline
func spawn() {
	var group sync.WaitGroup
	group.Add(fan + fan*fan)
	for i := 0; i < fan; i++ {
		go child(&group)
	}
	group.Wait()
	runtime.Gosched()
}

func child(group *sync.WaitGroup) {
	defer group.Done()
	for i := 0; i < fan; i++ {
		go grandchild(group)
	}
	runtime.Gosched()
}

func grandchild(group *sync.WaitGroup) {
	defer group.Done()
	compute(1)
}

func detaching(group *sync.WaitGroup) {
	defer group.Done()
	started, ended := make(chan bool), make(chan bool)
	detach(group, started, ended)
	close(ended)
}

// detach creates goroutines that do not end before the task does: one that has run by then, and one that
// may not have.
//
//go:noinline
func detach(group *sync.WaitGroup, started, ended chan bool) {
	group.Add(3)
	go remain(group, started, ended)
	<-started
	go later(group)
}

func remain(group *sync.WaitGroup, started, ended chan bool) {
	defer group.Done()
	started <- true
	<-ended
	go outside(group)
}

func later(group *sync.WaitGroup) { group.Done() }

func outside(group *sync.WaitGroup) { group.Done() }
