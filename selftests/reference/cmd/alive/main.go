// Alive compares the goroutines at a trace's end with the traced program's own dump: each goroutine
// of the dump is present, in the same state, and all others are goroutines of the runtime.
//
//	alive TRACE DONE.json
//
// DONE.json is the object of a target's done line (a leading "done " is skipped), with a list "alive"
// of ids and states. One line for each kind of difference, at most ten for each; exit 1 if there is any.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

type goroutine struct {
	ID    trace.GoID `json:"id"`
	State string     `json:"state"`
}

type done struct {
	Alive []goroutine `json:"alive"`
}

// found is a goroutine's state according to a trace.
type found struct {
	state  trace.GoState
	name   string
	before bool // it existed when the trace began
}

func main() {
	command.Usage(len(os.Args) == 3, "alive TRACE DONE.json")
	bad, err := check(os.Args[1], os.Args[2])
	command.End(bad == 0, err)
}

func check(file, doneFile string) (int, error) {
	text, err := os.ReadFile(doneFile)
	if err != nil {
		return 0, err
	}
	var want done
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("done ")), &want); err != nil {
		return 0, fmt.Errorf("%s: %w", doneFile, err)
	}
	if len(want.Alive) == 0 {
		return 0, fmt.Errorf("%s: nothing is alive in it", doneFile)
	}
	have, err := read(file)
	if err != nil {
		return 0, err
	}
	missing, wrong, extra := 0, 0, 0
	say := func(n *int, format string, args ...any) {
		if *n++; *n <= 10 {
			fmt.Printf(format+"\n", args...)
		}
	}
	for _, g := range want.Alive {
		f, ok := have[g.ID]
		delete(have, g.ID)
		switch {
		case !ok:
			say(&missing, "goroutine %d (%s) is not there", g.ID, g.State)
		case !fits(f.state, g.State):
			say(&wrong, "goroutine %d %s is %s, but %s in truth", g.ID, f.name, f.state, g.State)
		}
	}
	for id, f := range have {
		// version 1.22 has no names for those that existed before
		if !strings.HasPrefix(f.name, "runtime.") && (f.name != "" || !f.before) {
			say(&extra, "goroutine %d %q is %s, but has ended in truth", id, f.name, f.state)
		}
	}
	fmt.Printf("of %d goroutines %d are missing, %d wrong; %d ended ones are alive\n",
		len(want.Alive), missing, wrong, extra)
	return missing + wrong + extra, nil
}

func read(file string) (map[trace.GoID]*found, error) {
	have := map[trace.GoID]*found{}
	_, err := tracefile.WalkFile(file, func(_ int, ev *trace.Event) error {
		if ev.Kind() != trace.EventStateTransition {
			return nil
		}
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		id := st.Resource.Goroutine()
		_, to := st.Goroutine()
		if to == trace.GoNotExist {
			delete(have, id)
			return nil
		}
		if have[id] == nil {
			from, _ := st.Goroutine()
			have[id] = &found{before: from == trace.GoUndetermined}
		}
		have[id].state = to
		for f := range st.Stack.Frames() {
			if from, _ := st.Goroutine(); from == trace.GoUndetermined || from == trace.GoNotExist || from == to {
				have[id].name = f.Func
			}
		}
		return nil
	})
	return have, err
}

// fits compares with the state in brackets of a goroutine dump. The goroutine that wrote the dump
// is running, and continues afterwards.
func fits(state trace.GoState, dump string) bool {
	switch dump {
	case "running":
		return true
	case "runnable":
		return state == trace.GoRunning || state == trace.GoRunnable
	case "syscall":
		return state == trace.GoSyscall
	}
	return state == trace.GoWaiting
}
