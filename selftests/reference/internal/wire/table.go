// Package wire parses v2 traces into batches and events and writes them, in the binary form and
// from the text form, without validation. The corpus and the mutants are created with it. It is
// written from the description of the format, independent of both our own reader and Go's, so that
// it does not share their bugs.
package wire

// This file holds the table of events.

import (
	"strconv"
	"strings"
)

// Types of events that need more than their row of the table.
const (
	EventBatch        = 1
	Stacks            = 2
	Stack             = 3
	Strings           = 4
	String            = 5
	CPUSamples        = 6
	CPUSample         = 7
	Frequency         = 8
	ExperimentalBatch = 49
	Sync              = 50
	ClockSnapshot     = 51
	EndOfGeneration   = 52
)

// Spec describes one type of event. Timed events have the time since the one before them as their
// first argument, "dt".
type Spec struct {
	Type  byte
	Name  string
	Args  []string // names, in the text form
	Kinds []string // the meaning of the arguments: the last part of the name, as "g" of "new_g"
}

// Timed reports whether it is an event of a thread, not one of a table.
func (s *Spec) Timed() bool { return len(s.Args) > 0 && s.Args[0] == "dt" }

const table = `
1 EventBatch gen m time size
2 Stacks
3 Stack id nframes
4 Strings
5 String id
6 CPUSamples
7 CPUSample time m p g stack
8 Frequency freq
9 ProcsChange dt procs_value stack
10 ProcStart dt p p_seq
11 ProcStop dt
12 ProcSteal dt p p_seq m
13 ProcStatus dt p pstatus
14 GoCreate dt new_g new_stack stack
15 GoCreateSyscall dt new_g
16 GoStart dt g g_seq
17 GoDestroy dt
18 GoDestroySyscall dt
19 GoStop dt reason_string stack
20 GoBlock dt reason_string stack
21 GoUnblock dt g g_seq stack
22 GoSyscallBegin dt p_seq stack
23 GoSyscallEnd dt
24 GoSyscallEndBlocked dt
25 GoStatus dt g m gstatus
26 STWBegin dt kind_string stack
27 STWEnd dt
28 GCActive dt gc_seq
29 GCBegin dt gc_seq stack
30 GCEnd dt gc_seq
31 GCSweepActive dt p
32 GCSweepBegin dt stack
33 GCSweepEnd dt swept_value reclaimed_value
34 GCMarkAssistActive dt g
35 GCMarkAssistBegin dt stack
36 GCMarkAssistEnd dt
37 HeapAlloc dt heapalloc_value
38 HeapGoal dt heapgoal_value
39 GoLabel dt label_string
40 UserTaskBegin dt task parent_task name_string stack
41 UserTaskEnd dt task stack
42 UserRegionBegin dt task name_string stack
43 UserRegionEnd dt task name_string stack
44 UserLog dt task key_string value_string stack
45 GoSwitch dt g g_seq
46 GoSwitchDestroy dt g g_seq
47 GoCreateBlocked dt new_g new_stack stack
48 GoStatusStack dt g m gstatus stack
49 ExperimentalBatch exp gen m time
50 Sync
51 ClockSnapshot dt mono sec nsec
52 EndOfGeneration
128 Span dt id npages_value kindclass
129 SpanAlloc dt id npages_value kindclass
130 SpanFree dt id
131 HeapObject dt id type
132 HeapObjectAlloc dt id type
133 HeapObjectFree dt id
134 GoroutineStack dt id order
135 GoroutineStackAlloc dt id order
136 GoroutineStackFree dt id
`

var (
	specs   [256]*Spec
	byName  = map[string]*Spec{}
	inOrder []*Spec
)

func init() {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		words := strings.Fields(line)
		typ, err := strconv.ParseUint(words[0], 10, 8)
		if err != nil {
			panic(err)
		}
		s := &Spec{Type: byte(typ), Name: words[1], Args: words[2:]}
		for _, arg := range s.Args {
			s.Kinds = append(s.Kinds, arg[strings.LastIndexByte(arg, '_')+1:])
		}
		specs[typ], byName[s.Name] = s, s
		inOrder = append(inOrder, s)
	}
}

// SpecOf returns the description of a type of event, nil if there is none.
func SpecOf(typ byte) *Spec { return specs[typ] }

// Specs returns all of them.
func Specs() []*Spec { return inOrder }

// SpecNamed returns the description of a type of event by its name, nil if there is none.
func SpecNamed(name string) *Spec { return byName[name] }
