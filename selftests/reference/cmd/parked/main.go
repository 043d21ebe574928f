// Parked compares the stacks of goroutines that were parked when a trace began, and stayed so, with
// what the runtime reports about them.
//
//	parked [-least N] [-reasons EVENTS [-inferred]] TRACE RUNTIME
//
// RUNTIME is the program's own trace of the same time, or the text of its goroutine profile
// (debug=2). Goroutines that TRACE has in one state only are compared: their stacks frame by frame
// with that of their first status; with a profile without the runtime's frames, which it omits. Of a
// stack with the largest depth, whose last frame is the start function, all others are compared.
// EVENTS is the output of `gotrace events --json TRACE`: the reasons in it are compared with those of the
// profile, which all goroutines must have. -inferred: from stacks, which do not show whether a channel is nil.
// Exit status 1 if fewer than N of 1000 goroutines are equal, or one has a frame that is wrong:
// that neither side lacks a stack, but they differ.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

const (
	depthMax   = 128
	profileMax = 90 // frames: a goroutine profile shows 100, with those that it hides in some releases
)

type goroutine struct {
	stack   []string // functions with lines, the innermost first
	reason  string   // of a profile
	changed bool     // it was in more than one state
	state   trace.GoState
}

func main() {
	least := flag.Int("least", 999, "how many of 1000 must be equal")
	reasons := flag.String("reasons", "", "the output of gotrace events --json")
	inferred := flag.Bool("inferred", false, "the reasons are marked as inferred")
	flag.Parse()
	command.Usage(flag.NArg() == 2, "parked [-least N] TRACE RUNTIME")
	ours := command.Must(ofTrace(flag.Arg(0)))
	head := command.Must(os.ReadFile(flag.Arg(1)))
	isTrace := bytes.HasPrefix(head, []byte("go 1."))
	var theirs map[trace.GoID]*goroutine
	if isTrace {
		theirs = command.Must(ofTrace(flag.Arg(1)))
	} else {
		theirs = ofProfile(head)
	}
	ok := compare(ours, theirs, isTrace, *least)
	if *reasons != "" {
		ok = compareReasons(ours, theirs, command.Must(reasonsOf(*reasons)), *inferred) && ok
	}
	command.End(ok, nil)
}

func ofTrace(path string) (map[trace.GoID]*goroutine, error) {
	all := map[trace.GoID]*goroutine{}
	_, err := tracefile.WalkFile(path, func(_ int, ev *trace.Event) error {
		if ev.Kind() != trace.EventStateTransition {
			return nil
		}
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			return nil
		}
		id := st.Resource.Goroutine()
		from, to := st.Goroutine()
		g := all[id]
		if g == nil {
			g = &goroutine{state: to, changed: from != trace.GoUndetermined}
			for f := range st.Stack.Frames() {
				g.stack = append(g.stack, fmt.Sprintf("%s:%d", f.Func, f.Line))
			}
			all[id] = g
		} else if from != to {
			g.changed = true
		}
		return nil
	})
	return all, err
}

var (
	head = regexp.MustCompile(`^goroutine (\d+) .*\[(.*)\]:$`)
	line = regexp.MustCompile(`^\t.*:(\d+)`)

	arguments = regexp.MustCompile(`\[.*\]`) // of types: a profile shows [...]
)

// ofProfile leaves out what the runtime cuts at 64 MiB: the last goroutine that such a text contains.
func ofProfile(text []byte) map[trace.GoID]*goroutine {
	if len(text) == 64<<20 {
		text = text[:max(0, bytes.LastIndex(text, []byte("\n\n")))]
	}
	all := map[trace.GoID]*goroutine{}
	var g *goroutine
	function := ""
	in := bufio.NewScanner(bytes.NewReader(text))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		t := in.Text()
		if m := head.FindStringSubmatch(t); m != nil {
			id, _ := strconv.ParseInt(m[1], 10, 64)
			g = &goroutine{state: trace.GoWaiting}
			if strings.HasPrefix(m[2], "run") || strings.HasPrefix(m[2], "syscall") { // running, runnable
				g.state = trace.GoSyscall
			}
			g.reason, _, _ = strings.Cut(m[2], ",")
			all[trace.GoID(id)] = g
			function = ""
		} else if m := line.FindStringSubmatch(t); m != nil && g != nil {
			if function != "" {
				g.stack = append(g.stack, function+":"+m[1])
			}
		} else if strings.HasPrefix(t, "created by ") {
			function = ""
		} else if at := strings.LastIndex(t, "("); at > 0 {
			function = t[:at]
		}
	}
	return all
}

// withoutRuntime omits the frames that a goroutine profile does not show.
func withoutRuntime(stack []string) []string {
	var shown []string
	for _, f := range stack {
		name := strings.TrimPrefix(f, "runtime.")
		if name != f && (name[0] < 'A' || name[0] > 'Z') && !strings.HasPrefix(name, "gopanic:") {
			continue
		}
		shown = append(shown, f)
	}
	return shown
}

// isEqual ignores the last frames of the deepest stacks: the runtime's have 126 frames in some releases.
func isEqual(ours, theirs []string) bool {
	if len(ours) == depthMax && len(theirs) >= depthMax-2 {
		ours, theirs = ours[:depthMax-2], theirs[:depthMax-2]
	}
	return strings.Join(ours, " ") == strings.Join(theirs, " ")
}

func compare(ours, theirs map[trace.GoID]*goroutine, isTrace bool, least int) bool {
	n, equal, missing := 0, 0, 0
	kinds, wrong := map[string]bool{}, map[string]int{}
	for id, o := range ours {
		t := theirs[id]
		if t == nil || o.changed || t.changed || t.state != o.state || len(t.stack) == 0 {
			continue
		}
		if o.state != trace.GoWaiting && (o.state != trace.GoSyscall || !isTrace) {
			continue
		}
		a, b := o.stack, t.stack
		if !isTrace {
			a, b = withoutRuntime(a), withoutRuntime(b)
			for i := range a {
				a[i] = arguments.ReplaceAllString(strings.Replace(a[i], "runtime.gopanic:", "panic:", 1), "[...]")
			}
			if len(b) == 0 || len(b) >= profileMax {
				continue
			}
		}
		n++
		switch {
		case isEqual(a, b):
			equal++
			kinds[b[len(b)-1]] = true
		case len(o.stack) <= 1:
			missing++
			kinds["missing: "+strings.Join(b, " ")] = true
		default:
			wrong[fmt.Sprintf("  ours    %s\n  runtime %s", strings.Join(a, " "), strings.Join(b, " "))]++
		}
	}
	fmt.Printf("%d of %d stacks equal, of %d kinds; %d goroutines have no stack, %d kinds of stacks differ\n", equal, n, len(kinds), missing, len(wrong))
	for k := range kinds {
		if strings.HasPrefix(k, "missing") {
			fmt.Println(k)
		}
	}
	var texts []string
	for text, count := range wrong {
		texts = append(texts, fmt.Sprintf("%d goroutines:\n%s", count, text))
	}
	sort.Strings(texts)
	for _, text := range texts[:min(len(texts), 10)] {
		fmt.Println(text)
	}
	return n > 0 && equal*1000 >= n*least && len(wrong) == 0
}

func reasonsOf(path string) (map[trace.GoID]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tracefile.FirstReasons(f)
}

// tracersReason is what the runtime's tracer calls the reason that a profile shows.
func tracersReason(profile string) string {
	switch {
	case strings.HasSuffix(profile, "(nil chan)"), profile == "select (no cases)":
		return "forever"
	case strings.HasPrefix(profile, "sync.Cond"):
		return "sync.(*Cond).Wait"
	case strings.HasPrefix(profile, "sync."), profile == "semacquire":
		return "sync"
	case profile == "IO wait":
		return "network"
	case strings.HasSuffix(profile, "(idle)"), profile == "finalizer wait", profile == "GC scavenge wait":
		return "system goroutine wait"
	case profile == "GC sweep wait":
		return "GC background sweeper wait"
	}
	return profile
}

func compareReasons(ours, theirs map[trace.GoID]*goroutine, reasons map[trace.GoID]string, inferred bool) bool {
	n, kinds, wrong := 0, map[string]bool{}, map[string]int{}
	for id, o := range ours {
		t := theirs[id]
		if t == nil || o.changed || o.state != trace.GoWaiting || t.state != o.state {
			continue
		}
		n++
		kinds[reasons[id]] = true
		profile, mark := t.reason, ""
		if inferred {
			profile, mark = strings.TrimSuffix(profile, " (nil chan)"), " (inferred)"
		}
		if want := tracersReason(profile) + mark; reasons[id] != want {
			wrong[fmt.Sprintf("%q, expected %q", reasons[id], want)]++
		}
	}
	fmt.Printf("%d reasons of %d kinds, %d kinds of differences\n", n, len(kinds), len(wrong))
	for text, count := range wrong {
		fmt.Printf("%d goroutines: %s\n", count, text)
	}
	return n > 0 && len(wrong) == 0
}
