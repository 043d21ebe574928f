// Size breaks a trace's bytes down by events, statuses, stacks, strings, private data and batch
// headers. For two traces it prints the bytes per event of each, and fails when the first needs
// more than -most times those of the second.
// the first takes more than -most times the second's.
//
//	size [-most RATIO] [-kinds] FILE [FILE]
//
// Counted events are timed ones other than statuses: what happened, not what each generation
// repeats. For two files only the kinds in both count, on both sides with all of their bytes.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"sort"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/wire"
)

const privatePrefix = "\x00gotrace-bpf/1 "

// sizes are the contents of one file.
type sizes struct {
	name                                     string
	total, stacks, strings, private, sync    int
	statuses, batches, generations           int
	events, eventBytes                       map[string]int
	stackCount, stringCount, frames, samples int
}

func (s *sizes) add(e *wire.Event) {
	n := e.Size()
	switch e.Type {
	case wire.Stacks, wire.Strings, wire.Sync, wire.Frequency, wire.ClockSnapshot, wire.CPUSamples:
		s.sync += n
	case wire.Stack:
		s.stacks += n
		s.stackCount++
		s.frames += len(e.Frames) / 4
	case wire.String:
		if bytes.HasPrefix(e.Data, []byte(privatePrefix)) {
			s.private += n
		} else {
			s.strings += n
			s.stringCount++
		}
	case wire.CPUSample:
		s.samples += n
	default:
		name := wire.SpecOf(e.Type).Name
		if name == "GoStatus" || name == "GoStatusStack" || name == "ProcStatus" {
			s.statuses += n
			return
		}
		s.events[name]++
		s.eventBytes[name] += n
	}
}

func measure(name string) (*sizes, error) {
	data := command.Must(os.ReadFile(name))
	f, err := wire.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &sizes{name: name, total: len(data), events: map[string]int{}, eventBytes: map[string]int{}}
	last := uint64(0)
	for _, b := range f.Batches {
		s.batches++
		if b.Gen != last && b.Type != wire.EndOfGeneration {
			s.generations++
			last = b.Gen
		}
		for _, e := range b.Events {
			s.add(e)
		}
	}
	return s, nil
}

func sum(m map[string]int) (n int) {
	for _, v := range m {
		n += v
	}
	return n
}

// rest is what the other parts do not account for: batch headers and their padding.
func (s *sizes) rest() int {
	return s.total - s.stacks - s.strings - s.private - s.sync - s.statuses - s.samples -
		sum(s.eventBytes)
}

func (s *sizes) print() {
	n := sum(s.events)
	part := func(name string, bytes int, note string, args ...any) {
		fmt.Printf("  %-10s %10d  %5.1f%%  %6.3f per event  %s\n", name, bytes,
			100*float64(bytes)/float64(s.total), float64(bytes)/float64(n), fmt.Sprintf(note, args...))
	}
	fmt.Printf("%s: %d generations, %d events\n", s.name, s.generations, n)
	part("all", s.total, "")
	part("events", sum(s.eventBytes), "")
	part("statuses", s.statuses, "")
	part("stacks", s.stacks, "%d, %d frames", s.stackCount, s.frames)
	part("strings", s.strings, "%d", s.stringCount)
	part("private", s.private, "")
	part("sync", s.sync+s.samples, "and samples")
	part("headers", s.rest(), "%d batches", s.batches)
}

func (s *sizes) printKinds() {
	var names []string
	for name := range s.events {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return s.eventBytes[names[i]] > s.eventBytes[names[j]] })
	for _, name := range names {
		fmt.Printf("  %-20s %9d  %9d bytes  %6.3f each\n", name, s.events[name], s.eventBytes[name],
			float64(s.eventBytes[name])/float64(s.events[name]))
	}
}

// each is the bytes per event of the kinds that both have, without the bytes of other kinds.
func (s *sizes) each(other *sizes) float64 {
	n, foreign := 0, 0
	for name, count := range s.events {
		if other.events[name] > 0 {
			n += count
		} else {
			foreign += s.eventBytes[name]
		}
	}
	return float64(s.total-foreign) / float64(n)
}

func main() {
	most := flag.Float64("most", 0, "fail when the first file takes more than this times the second's")
	kinds := flag.Bool("kinds", false, "list the kinds of events")
	flag.Parse()
	command.Usage(flag.NArg() >= 1 && flag.NArg() <= 2, "size [-most RATIO] [-kinds] FILE [FILE]")
	var all []*sizes
	for _, name := range flag.Args() {
		s := command.Must(measure(name))
		s.print()
		if *kinds {
			s.printKinds()
		}
		all = append(all, s)
	}
	if len(all) < 2 {
		return
	}
	ours, theirs := all[0].each(all[1]), all[1].each(all[0])
	fmt.Printf("bytes per event, of the kinds in both: %.3f and %.3f, ratio %.3f\n", ours, theirs,
		ours/theirs)
	if *most > 0 && ours > *most*theirs {
		fmt.Printf("more than %.2f times\n", *most)
		os.Exit(1)
	}
}
