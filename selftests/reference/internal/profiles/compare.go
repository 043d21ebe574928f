// Package profiles compares profiles in the format of pprof, and computes those of a trace a second
// time, from the events that golang.org/x/exp/trace delivers.
package profiles

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Values are the count and the time in nanoseconds of a stack.
type Values [2]int64

// Stacks has the values by stack: one line per frame, leaf first, with address, function, file and
// line, and then the labels of the sample, if they are requested. Otherwise samples that differ only
// in their labels are one.
type Stacks map[string]Values

// Read reads a profile, checks it by the rules of pprof, and returns its stacks.
func Read(file string, withLabels bool) (*profile.Profile, Stacks, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := p.CheckValid(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	stacks := Stacks{}
	for _, s := range p.Sample {
		// CPU samples whose rate is unknown have no time: it counts as the number of samples.
		if len(s.Value) == 1 && types(p.SampleType...)[0] == "samples/count" {
			s.Value = append(s.Value, s.Value[0])
		}
		if len(s.Value) != 2 {
			return nil, nil, fmt.Errorf("%s: a sample has %d values", file, len(s.Value))
		}
		key := stackOf(s)
		if withLabels {
			key += labelsOf(s)
		}
		stacks.Add(key, Values{s.Value[0], s.Value[1]})
	}
	return p, stacks, nil
}

// Outermost frames with neither an address nor a name are left out: for go tool trace, a stack with
// them and one without are the same, and it shows whichever came last.
func stackOf(s *profile.Sample) string {
	var b strings.Builder
	locations := s.Location
	for n := len(locations); n > 0 && locations[n-1].Address == 0 && locations[n-1].Line[0].Function.Name == ""; n-- {
		locations = locations[:n-1]
	}
	for _, l := range locations {
		for _, line := range l.Line {
			writeFrame(&b, l.Address, line.Function.Name, line.Function.Filename, uint64(line.Line))
		}
	}
	return b.String()
}

func labelsOf(s *profile.Sample) string {
	var all []string
	for name, values := range s.Label {
		all = append(all, fmt.Sprint(name, values))
	}
	for name, values := range s.NumLabel {
		all = append(all, fmt.Sprint(name, values))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func writeFrame(w io.Writer, address uint64, function, file string, line uint64) {
	fmt.Fprintf(w, "%#x %s %s:%d\n", address, function, file, line)
}

// Add adds to the values of a stack.
func (s Stacks) Add(stack string, v Values) {
	old := s[stack]
	s[stack] = Values{old[0] + v[0], old[1] + v[1]}
}

// Total returns the sum over all stacks.
func (s Stacks) Total() Values {
	var sum Values
	for _, v := range s {
		sum[0] += v[0]
		sum[1] += v[1]
	}
	return sum
}

// Folded returns one line per stack of functions, root first, with the time, sorted.
func Folded(p *profile.Profile) []string {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, strings.ReplaceAll(l.Line[0].Function.Name, ";", ":"))
		}
		slices.Reverse(names)
		if len(names) == 0 {
			names = []string{""}
		}
		sums[strings.Join(names, ";")] += s.Value[1]
	}
	var lines []string
	for stack, ns := range sums {
		lines = append(lines, fmt.Sprintf("%s %d", stack, ns))
	}
	slices.Sort(lines)
	return lines
}

// Table returns the shares that `gotrace profile` prints, in its order: of the time of stacks with
// this innermost function, of all lines so far, and of stacks with this function.
func Table(p *profile.Profile) []string {
	type row struct {
		name            string
		flat, cumulated int64
	}
	rows := map[string]*row{}
	var total int64
	for _, s := range p.Sample {
		seen := map[string]bool{}
		names := []string{}
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		if len(names) == 0 {
			names = []string{""}
		}
		total += s.Value[1]
		for i, name := range names {
			if rows[name] == nil {
				rows[name] = &row{name: name}
			}
			if i == 0 {
				rows[name].flat += s.Value[1]
			}
			if !seen[name] {
				rows[name].cumulated += s.Value[1]
			}
			seen[name] = true
		}
	}
	sorted := slices.SortedFunc(maps.Values(rows), func(a, b *row) int {
		return cmp.Or(-cmp.Compare(a.flat, b.flat), -cmp.Compare(a.cumulated, b.cumulated), strings.Compare(a.name, b.name))
	})
	var lines []string
	var sum int64
	share := func(ns int64) string { return fmt.Sprintf("%.1f%%", float64(ns)/float64(total)*100) }
	for _, r := range sorted {
		sum += r.flat
		lines = append(lines, strings.Join([]string{share(r.flat), share(sum), share(r.cumulated), r.name}, " "))
	}
	return lines
}

// CompareTypes reports each difference between the types and units of two profiles.
func CompareTypes(ours, theirs *profile.Profile) []string {
	var found []string
	differ := func(what string, a, b any) {
		if fmt.Sprint(a) != fmt.Sprint(b) {
			found = append(found, fmt.Sprintf("%s: ours %v, theirs %v", what, a, b))
		}
	}
	differ("sample types", types(ours.SampleType...), types(theirs.SampleType...))
	differ("period type", types(ours.PeriodType), types(theirs.PeriodType))
	differ("period", ours.Period, theirs.Period)
	return found
}

func types(all ...*profile.ValueType) []string {
	var names []string
	for _, t := range all {
		names = append(names, t.Type+"/"+t.Unit)
	}
	return names
}

// Compare reports each difference between the stacks of two profiles. Times of a stack may differ by
// a number of nanoseconds.
func Compare(ours, theirs Stacks, within int64) []string {
	var found []string
	for stack, v := range theirs {
		if apart := ours[stack][1] - v[1]; ours[stack][0] != v[0] || max(apart, -apart) > within {
			found = append(found, fmt.Sprintf("ours %v, theirs %v:\n%s", ours[stack], v, stack))
		}
	}
	for stack, v := range ours {
		if _, ok := theirs[stack]; !ok {
			found = append(found, fmt.Sprintf("ours %v, theirs nothing:\n%s", v, stack))
		}
	}
	slices.Sort(found)
	return found
}
