// Package mutation derives corrupt traces (mutants) from valid ones, on which `gotrace check` and
// Go's reader must agree. Most have one to three small changes of their structure, with the framing
// corrected, so that they are not rejected immediately and the rules about the order of events
// apply; a few have corrupt bytes.
//
// Mutant N of a seed is reproducible, as long as the bases are unchanged.
package mutation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/expected"
	"gotrace-bpf/selftests/reference/internal/wire"
)

// Base is a trace from which mutants are derived.
type Base struct {
	Name string
	Data []byte
}

// Maker creates the mutants of one seed. Half of them are derived from synthetic traces, and at
// first every other one is a synthetic trace that became invalid while it was created (world.go).
type Maker struct {
	seed   uint64
	worlds int
	bases  []Base
	files  []*wire.File // nil where the base is not a v2 trace: only its bytes are changed
	known  []values
	weight []int
	total  int
	broken []Base // these are mutants already
}

// New returns a maker that also creates synthetic traces, none if worlds is 0. Larger bases are
// used more often, since there is more to change in them, and those that Go's reader rejects anyway
// are used rarely.
func New(seed uint64, bases []Base, worlds int) *Maker {
	m := &Maker{seed: seed, worlds: worlds}
	broke := broken{found: map[string]int{}}
	for n := range uint64(worlds) {
		f := makeWorld(seed, n, &broke)
		m.add(Base{fmt.Sprint("world-", n), f.Bytes()}, f, 0)
	}
	m.broken = slices.Concat(broke.list...)
	for _, b := range bases {
		f, err := wire.Parse(b.Data)
		if err != nil {
			f = nil
		}
		weight := 1
		if expected.Of(bytes.NewReader(b.Data), nil).Kind == expected.OK {
			for size := len(b.Data); size > 10; size /= 4 {
				weight += 2
			}
		}
		m.add(b, f, weight)
	}
	return m
}

func (m *Maker) add(b Base, f *wire.File, weight int) {
	m.bases = append(m.bases, b)
	m.files, m.known = append(m.files, f), append(m.known, collect(f))
	m.weight = append(m.weight, weight)
	m.total += weight
}

// Mutant returns the n-th mutant, the name of its base and a description of the changes.
func (m *Maker) Mutant(n uint64) (data []byte, base, changes string) {
	if k := n / 2; n%2 == 0 && k < uint64(len(m.broken)) {
		return m.broken[k].Data, m.broken[k].Name, "none"
	}
	r := rand.New(rand.NewPCG(m.seed, n))
	i, j := m.pick(r), m.pick(r)
	base = m.bases[i].Name
	if m.files[i] == nil {
		data, changes = breakBytes(r, m.bases[i].Data, m.bases[j].Data)
		return unspell(data), base, changes
	}
	c := &change{Rand: r, f: m.files[i].Clone(), known: m.known[i]}
	if c.other = m.files[j]; c.other == nil {
		c.other = m.files[i]
	}
	var done []string
	if r.IntN(3) == 0 { // no semantic change: few bases have the newer versions
		done = append(done, convert(c))
	}
	for k := len(done) + 1 + min(r.IntN(6)*r.IntN(6)/4, 5); len(done) < k; {
		if what := c.apply(); what != "" {
			done = append(done, what)
		}
	}
	data = c.f.Bytes()
	if r.IntN(12) == 0 {
		var what string
		data, what = breakBytes(r, data, m.bases[j].Data)
		done = append(done, what)
	}
	return unspell(data), base, strings.Join(done, "; ")
}

var (
	header  = regexp.MustCompile(`^go 1\.[1-9][0-9]? trace\x00`)
	scanned = regexp.MustCompile(`^go\s+1\.\s*[0-9]+\s+trace`)
)

// Go's reader scans the header as words and a number, and so accepts other white space and leading
// zeros.
//
// unspell corrupts a header that only such a scan accepts: `gotrace` requires the form that Go
// writes, which is intended.
func unspell(data []byte) []byte {
	if scanned.Match(data) && !header.Match(data) {
		data[0] = 'G'
	}
	return data
}

func (m *Maker) pick(r *rand.Rand) int {
	if m.worlds > 0 && r.IntN(2) == 0 {
		return r.IntN(m.worlds)
	}
	at := r.IntN(m.total)
	for i, weight := range m.weight {
		if at -= weight; at < 0 {
			return i
		}
	}
	panic("unreachable")
}

// change is a mutant under construction.
type change struct {
	*rand.Rand
	f, other *wire.File
	known    values
}

// A mutation changes c.f and returns a description, "" if it found nothing to change.
type mutation struct {
	weight int
	do     func(c *change) string
}

var all []mutation

func init() {
	all = append(all, ofEvents...)
	all = append(all, ofBatches...)
	all = append(all, ofGenerations...)
	all = append(all, ofTables...)
}

func (c *change) apply() string {
	total := 0
	for _, m := range all {
		total += m.weight
	}
	at := c.IntN(total)
	for _, m := range all {
		if at -= m.weight; at < 0 {
			return m.do(c)
		}
	}
	panic("unreachable")
}

// breakBytes flips, truncates, inserts or copies bytes, regardless of their meaning.
func breakBytes(r *rand.Rand, data, other []byte) ([]byte, string) {
	data = append([]byte(nil), data...)
	for k := 1 + r.IntN(3); k > 0 && len(data) > 0; k-- {
		at := r.IntN(len(data))
		if r.IntN(3) == 0 {
			at = min(wire.HeaderSize+r.IntN(100), len(data)-1) // headers are small and come first
		}
		switch r.IntN(8) {
		case 0, 1:
			data[at] ^= 1 << r.IntN(8)
		case 2, 3:
			data[at] = byte(r.IntN(256))
		case 4:
			data = append(data[:at], data[min(at+1+r.IntN(4), len(data)):]...)
		case 5:
			data = append(data[:at:at], append([]byte{byte(r.IntN(256))}, data[at:]...)...)
		case 6:
			data = data[:at]
		case 7:
			if from := r.IntN(len(other) + 1); from < len(other) {
				data = append(data[:at:at], other[from:]...)
			}
		}
	}
	return data, "bytes"
}
