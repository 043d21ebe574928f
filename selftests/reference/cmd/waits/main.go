// Waits compares `gotrace path`, `gotrace latency`, `gotrace waits` and `gotrace histogram` with a
// second computation from `gotrace events --kernel --json`.
//
//	waits [-n N] [-share S] GOTRACE TRACE
//
// GOTRACE is the program to run for all of them. The paths are those of the N goroutines with the
// most system calls, for the whole trace and for a part of their time; each member of each segment
// is compared, and so is the time that each goroutine waited for each holder of a P in the paths of the N/3
// goroutines that waited most. Findings go to standard output; exit status 1 when more than the share S of the
// segments, or of those of system calls, differ, or a holder by more than 1 % and 1 us, or any figure of latency, a
// wait or a histogram.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/waits"
)

func main() {
	n := flag.Int("n", 40, "how many `goroutines`")
	share := flag.Float64("share", 0.001, "the `share` of the segments that may differ")
	flag.Parse()
	command.Usage(flag.NArg() == 2, "waits [-n N] [-share S] GOTRACE TRACE")
	command.End(compare(flag.Arg(0), flag.Arg(1), *n, *share))
}

func run(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func compare(gotrace, file string, n int, share float64) (bool, error) {
	lines, m, err := waits.Read(gotrace, file)
	if err != nil {
		return false, err
	}
	var v waits.Counts
	for _, g := range chosen(m, n) {
		segments := command.Must(path(gotrace, file, g))
		m.Compare(g, segments, false, &v)
		from, to := segments[0].From, segments[len(segments)-1].To
		// A window begins and ends at arbitrary times.
		from, to = from+(to-from)/3, to-(to-from)/4
		segments = command.Must(path(gotrace, file, g, fmt.Sprintf("--from=@%d", from), fmt.Sprintf("--to=@%d", to)))
		m.Compare(g, segments, true, &v)
	}
	differ := 0
	for names, count := range v.Differ {
		fmt.Printf("%d segments differ: %s\n", count, names)
		differ += count
	}
	for _, line := range v.Lines {
		fmt.Println(line)
	}
	fmt.Printf("path: %d segments, %d differ, %d begin before a thread's first item; %d of system calls, %d differ, %d are not "+
		"the last call that the goroutine had entered\n", v.Segments, differ, v.Unknown, v.Calls, v.CallsDiffer, v.Last)
	worst, of := v.WorstHolder()
	fmt.Printf("holders of Ps: %d, the largest difference is %.3f %%\n", len(v.Holders), worst)
	if worst > 1 {
		ns := v.Holders[of]
		fmt.Printf("%+v: %d ns in the paths, %d by the events\n", of, ns[0], ns[1])
	}
	most := func(all int) float64 { return share * float64(all) }
	ok := v.Calls > 0 && float64(differ) <= most(v.Segments) && float64(v.CallsDiffer) <= most(v.Calls) &&
		float64(v.Last) <= most(v.Calls) && worst <= 1
	fine := command.Must(latency(gotrace, file, m))
	same := histograms(gotrace, file, lines, m)
	equal, err := longest(gotrace, file, lines, m)
	return ok && fine && same && equal, err
}

// The longest waits of each kind, for the complete trace and for its middle.
func longest(gotrace, file string, lines []*waits.Line, m *waits.Model) (bool, error) {
	third, found, causes, ok := (m.End-m.Start)/3, 0, 0, true
	for _, kind := range []string{"block", "sched", "syscall", "runqueue"} {
		for _, window := range [][2]int64{{m.Start, m.End + 1}, {m.Start + third, m.Start + 2*third}} {
			const n = 200
			text, err := run(gotrace, "waits", "--runtime", "--kind", kind, "--longest", strconv.Itoa(n), "--json",
				fmt.Sprintf("--from=@%d", window[0]), fmt.Sprintf("--to=@%d", window[1]), file)
			if err != nil {
				return false, fmt.Errorf("waits: %w", err)
			}
			theirs, err := waits.ParseWaits(text)
			if err != nil {
				return false, err
			}
			all, early := m.Longest(lines, kind, window[0], window[1])
			differ, compared := m.CompareWaits(theirs, all, early, n, window[0] == m.Start)
			for i, line := range differ {
				if i < 10 {
					fmt.Printf("waits, %s: %s\n", kind, line)
				}
				ok = false
			}
			found, causes = found+len(theirs), causes+compared
		}
	}
	fmt.Printf("waits: %d, with %d causes that were compared\n", found, causes)
	return ok && causes > 0, nil
}

// Each kind of interval, and the most frequent name of each kind that has names, for the complete
// trace and for its middle.
func histograms(gotrace, file string, lines []*waits.Line, m *waits.Model) bool {
	third, intervals, early, ok := (m.End-m.Start)/3, 0, 0, true
	kinds := waits.Kinds(lines)
	for _, of := range kinds {
		all := waits.Intervals(lines, m, of)
		intervals, early = intervals+len(all), early+waits.Early(all)
		for _, window := range [][2]int64{{m.Start, m.End + 1}, {m.Start + third, m.Start + 2*third}} {
			same := command.Must(histogram(gotrace, file, of, all, window))
			ok = ok && same
			if g := waits.MostFrequent(all); g != waits.None {
				same := command.Must(histogram(gotrace, file, of, waits.Of(all, g), window, fmt.Sprintf("--goroutine=%d", g)))
				ok = ok && same
			}
		}
	}
	fmt.Printf("histogram: %d kinds, %d intervals, of which %d began before a thread's first item\n", len(kinds), intervals, early)
	return ok && intervals > 0
}

func histogram(gotrace, file, of string, all []waits.Interval, window [2]int64, options ...string) (bool, error) {
	args := append([]string{"histogram", "--of", of, "--json", fmt.Sprintf("--from=@%d", window[0]),
		fmt.Sprintf("--to=@%d", window[1]), file}, options...)
	text, err := run(gotrace, args...)
	if err != nil {
		return false, fmt.Errorf("histogram of %s: %w", of, err)
	}
	h := command.Must(waits.ParseHistogram(text))
	lines := h.Compare(all, window[0], window[1])
	for _, line := range lines {
		fmt.Printf("histogram of %s %v: %s\n", of, options, line)
	}
	return len(lines) == 0, nil
}

// The complete trace, and its middle.
func latency(gotrace, file string, m *waits.Model) (bool, error) {
	third, ok := (m.End-m.Start)/3, true
	for _, window := range [][2]int64{{m.Start, m.End}, {m.Start + third, m.Start + 2*third}} {
		text, err := run(gotrace, "latency", "--goroutines", "--json", fmt.Sprintf("--from=@%d", window[0]),
			fmt.Sprintf("--to=@%d", window[1]), file)
		if err != nil {
			return false, fmt.Errorf("latency: %w", err)
		}
		l := command.Must(waits.ParseLatency(text))
		lines, compared, figures := m.CompareLatency(l, window[0], window[1])
		for i, line := range lines {
			if i < 10 {
				fmt.Println(line)
			}
		}
		fmt.Printf("latency, %d ms: %d of %d goroutines compared, %d figures, %d differ\n", (window[1]-window[0])/1e6,
			compared, len(l.Goroutines), figures, len(lines))
		ok = ok && len(lines) == 0 && 2*compared > len(l.Goroutines)
	}
	return ok, nil
}

// path returns the path of a goroutine, from the command's output.
func path(gotrace, file string, g int64, options ...string) ([]waits.Segment, error) {
	args := append([]string{"path", "--json", "--goroutine", strconv.FormatInt(g, 10), file}, options...)
	text, err := run(gotrace, args...)
	if err != nil {
		return nil, fmt.Errorf("path of %d: %w", g, err)
	}
	return waits.ParsePath(text)
}

// chosen returns n goroutines with the most system calls, and n/3 others that waited most for a P.
func chosen(m *waits.Model, n int) []int64 {
	var ids []int64
	for id, g := range m.Goroutines {
		if !g.Reused && (g.Born || len(g.States) > 1) {
			ids = append(ids, id)
		}
	}
	by := func(figure func(int64) int64) {
		slices.SortFunc(ids, func(a, b int64) int {
			return cmp.Or(cmp.Compare(figure(b), figure(a)), cmp.Compare(b, a))
		})
	}
	by(func(id int64) int64 { return int64(len(m.Enters[id])) })
	first := slices.Clone(ids[:min(n, len(ids))])
	ids = ids[len(first):]
	by(m.WaitedForP)
	return append(first, ids[:min(n/3, len(ids))]...)
}
