package compare

// This file makes a trace of Go 1.21 or older comparable: the v1 format, as Go's reader converts
// it, contains less than v2, and some things in another form. These differences are removed:
//
//   - Clocks: v1 counts ticks of the processor from the trace's start. Our times are converted to
//     that clock, by the creations of goroutines that both have: offset and rate.
//   - Threads: v1 has the runtime's own numbers instead of the kernel's; the starts of goroutines
//     show which is which. v1 does not record when a thread takes back the P that it left in a
//     syscall from another thread's syscall: the P's thread is wrong there until it starts again.
//     v1 also has no thread at the end of a syscall that lost its P. These are not compared. If it
//     happened before the trace began, nothing shows it: hence V1MinM.
//   - Ps: taking a P back is no transition of the P in v1 either: hence V1MinProcs and V1MostProcs.
//   - Reasons: v1 has one plain block event for several reasons of v2.
//   - The end of a syscall that kept its P is not in v1: the reader places it directly after the
//     start. Ours is moved there, too.
//   - Stacks: v1 has none where the runtime omits none of its frames, as for a wake-up by the
//     runtime itself.
//   - Texts: v1 has longer ones than v2, which truncates them.
//   - Go's reader of v1 names one reason of an STW pause differently than the runtime.
//   - The STW pauses of the tracer's own start and end are not in v1; before 1.21 it has only those
//     of the GC.

import (
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/tracefile"

	"golang.org/x/exp/trace"
)

// plain are the reasons that v1 lacks.
var plain = []string{
	"unspecified", "system goroutine wait", "GC background sweeper wait", "preempted",
	"wait for debug call", "wait until GC ends",
}

// maxString is the maximum length of a text of the v2 format.
const maxString = 1024

// V1MinM is the percentage of the compared thread ids that must agree with a v1 trace, V1MinProcs
// that of the Ps' transitions, and V1MostProcs the maximum percentage of additional ones in ours.
const (
	V1MinM      = 97
	V1MinProcs  = 90
	V1MostProcs = 30
)

// ReconcileV1 changes ours, and the thread ids in truth, so that differences due to the v1 format
// disappear. It reports whether the two have enough in common for that.
func ReconcileV1(truth, ours *tracefile.Trace) bool {
	if !alignClocks(truth, ours) {
		return false
	}
	nameThreads(truth, ours)
	forgetThreads(truth)
	forget := map[int32]bool{}
	for _, s := range plain {
		forget[ours.Tables.ID(s)] = true
	}
	begin := map[int64]int64{}
	for i := range ours.Transitions {
		t := &ours.Transitions[i]
		switch {
		case t.To == trace.GoWaiting && forget[t.Reason]:
			t.Reason = 0
		case t.To == trace.GoSyscall:
			begin[t.G] = t.Time
		case t.From == trace.GoSyscall && t.To == trace.GoRunning && begin[t.G] != 0:
			t.Time = begin[t.G] + 1
		}
	}
	for i := range truth.Annotations {
		a := &truth.Annotations[i]
		if text := truth.Tables.String(a.Message); len(text) > maxString {
			a.Message = truth.Tables.ID(text[:maxString])
		}
	}
	known := map[string]bool{}
	for i := range ours.Ranges {
		if r := &ours.Ranges[i]; r.Name == "stop-the-world (all goroutines stack trace)" {
			r.Name = "stop-the-world (all goroutine stack trace)"
		}
	}
	for _, r := range truth.Ranges {
		known[r.Name] = true
	}
	ours.Ranges = slices.DeleteFunc(ours.Ranges, func(r tracefile.Range) bool {
		return strings.HasPrefix(r.Name, "stop-the-world") && !known[r.Name] &&
			!strings.HasPrefix(r.Name, "stop-the-world (GC")
	})
	return true
}

// alignClocks converts all times of ours to the truth's clock.
func alignClocks(truth, ours *tracefile.Trace) bool {
	created := map[int64]int64{}
	for i := range truth.Transitions {
		if t := &truth.Transitions[i]; t.From == trace.GoNotExist {
			created[t.G] = t.Time
		}
	}
	var at, behind []int64 // ours, and how much that is later than the truth's
	for i := range ours.Transitions {
		t := &ours.Transitions[i]
		if when, ok := created[t.G]; ok && t.From == trace.GoNotExist {
			at = append(at, t.Time)
			behind = append(behind, t.Time-when)
		}
	}
	part := len(at) / 8
	if part < 8 {
		return false
	}
	first, last := median(behind[:part]), median(behind[len(at)-part:])
	from, to := at[part/2], at[len(at)-1-part/2]
	move := func(t *int64) {
		drift := float64(last-first) * float64(*t-from) / float64(to-from)
		*t -= first + int64(drift)
	}
	for i := range ours.Transitions {
		move(&ours.Transitions[i].Time)
	}
	for i := range ours.Procs {
		move(&ours.Procs[i].Time)
	}
	for i := range ours.Ranges {
		move(&ours.Ranges[i].Time)
	}
	for i := range ours.Metrics {
		move(&ours.Metrics[i].Time)
	}
	for i := range ours.Annotations {
		move(&ours.Annotations[i].Time)
	}
	move(&ours.Start)
	move(&ours.End)
	return true
}

func median(list []int64) int64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// nameThreads gives the truth's threads the ids that ours has for them: the most frequent of those
// seen where a goroutine starts at about the same time.
func nameThreads(truth, ours *tracefile.Trace) {
	const near = 100_000
	votes := map[int64]map[int64]int{}
	all := byGoroutine(ours, truth.Start-near, truth.End+near)
	for g, list := range byGoroutine(truth, truth.Start, truth.End) {
		for _, p := range align(items(list), items(all[g])) {
			if p.t < 0 || p.o < 0 || list[p.t].To != trace.GoRunning ||
				abs(list[p.t].Time-all[g][p.o].Time) > near {
				continue
			}
			m := list[p.t].M
			if votes[m] == nil {
				votes[m] = map[int64]int{}
			}
			votes[m][all[g][p.o].M]++
		}
	}
	names := map[int64]int64{}
	for m, of := range votes {
		most := 0
		for id, n := range of {
			if n > most {
				most, names[m] = n, id
			}
		}
	}
	for i := range truth.Transitions {
		if id, ok := names[truth.Transitions[i].M]; ok {
			truth.Transitions[i].M = id
		}
	}
}

// forgetThreads removes the thread ids that v1 does not determine: a P that one goroutine left in a
// syscall runs another one without having started again. The thread that runs it took the P, and
// had itself left its P in a syscall.
func forgetThreads(truth *tracefile.Trace) {
	type state struct {
		inSyscall int64 // the goroutine that left the P in a syscall, 0: none
		unknown   bool
	}
	ps := map[int64]*state{}
	of := func(p int64) *state {
		if ps[p] == nil {
			ps[p] = &state{}
		}
		return ps[p]
	}
	procs := truth.Procs
	for i := range truth.Transitions {
		t := &truth.Transitions[i]
		for ; len(procs) > 0 && procs[0].Time <= t.Time; procs = procs[1:] {
			if procs[0].To == trace.ProcRunning {
				*of(procs[0].P) = state{}
			}
		}
		if t.P < 0 {
			continue
		}
		p := of(t.P)
		if p.inSyscall != 0 && !t.Status() && t.By != p.inSyscall && t.G != p.inSyscall {
			p.unknown = true
		}
		p.inSyscall = 0
		if t.To == trace.GoSyscall && t.From == trace.GoRunning {
			p.inSyscall = t.G
		}
		if p.unknown {
			t.M = -1
		}
	}
}
