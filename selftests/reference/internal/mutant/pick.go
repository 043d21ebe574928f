package mutant

import (
	"hash/fnv"
	"math"
	"path"
	"sort"
	"strconv"
)

// draw returns a number above 0 and up to 1 that depends only on its arguments. So a change of one
// function does not affect the selection in the others.
func draw(seed uint64, parts ...string) float64 {
	h := fnv.New64a()
	h.Write([]byte(strconv.FormatUint(seed, 10)))
	for _, p := range parts {
		h.Write([]byte{0})
		h.Write([]byte(p))
	}
	x := h.Sum64() // the last bytes have little effect on the high bits: mix
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return (float64(x>>11) + 1) / (1 << 53)
}

// Candidate is a function with its mutants in the order of trial.
type Candidate struct {
	File    *File
	Name    string
	Mutants []Mutant
	order   float64
}

// Candidates returns each folder's functions in an order given by the seed, those with more lines
// earlier on average, and the number of function lines per folder.
func Candidates(files []*File, seed uint64) (map[string][]Candidate, map[string]int) {
	folders, lines := map[string][]Candidate{}, map[string]int{}
	for _, f := range files {
		folder := path.Dir(f.Path)
		for _, fn := range f.Functions {
			lines[folder] += fn.Lines
			if c := f.order(&fn, seed); len(c.Mutants) > 0 {
				folders[folder] = append(folders[folder], c)
			}
		}
	}
	for _, list := range folders {
		sort.SliceStable(list, func(i, j int) bool { return list[i].order < list[j].order })
	}
	return folders, lines
}

// order shuffles the kinds of change, and the mutants of each, and takes one of each kind in turn.
func (f *File) order(fn *Function, seed uint64) Candidate {
	c := Candidate{File: f, Name: fn.Name,
		order: -math.Log(draw(seed, f.Path, fn.Name)) / float64(fn.Lines)}
	rank := map[int]float64{}
	var all []Mutant
	for _, list := range fn.ByOp {
		list = append([]Mutant(nil), list...)
		keys := map[int]float64{}
		for i := range list {
			keys[list[i].start] = draw(seed, f.Path, fn.Name, list[i].Op, f.src[list[i].start:list[i].end],
				strconv.Itoa(i))
		}
		sort.Slice(list, func(i, j int) bool { return keys[list[i].start] < keys[list[j].start] })
		for i := range list {
			rank[len(all)] = float64(i) + draw(seed, f.Path, fn.Name, list[i].Op)
			all = append(all, list[i])
		}
	}
	index := make([]int, len(all))
	for i := range index {
		index[i] = i
	}
	sort.Slice(index, func(i, j int) bool { return rank[index[i]] < rank[index[j]] })
	for _, i := range index {
		c.Mutants = append(c.Mutants, all[i])
	}
	return c
}

// Shares divides n among the folders by their lines; the rest goes to the largest remainders.
func Shares(lines map[string]int, n int) map[string]int {
	total, left := 0, n
	var folders []string
	for f, l := range lines {
		total += l
		folders = append(folders, f)
	}
	shares := map[string]int{}
	for _, f := range folders {
		shares[f] = n * lines[f] / total
		left -= shares[f]
	}
	sort.Slice(folders, func(i, j int) bool {
		a, b := n*lines[folders[i]]%total, n*lines[folders[j]]%total
		return a > b || a == b && folders[i] < folders[j]
	})
	for i := 0; i < left; i++ {
		shares[folders[i%len(folders)]]++
	}
	return shares
}

// All returns the mutants at a line of a file, of one kind or of all of them.
func (f *File) All(line int, op string) []Mutant {
	var found []Mutant
	for _, fn := range f.Functions {
		for _, g := range generators {
			for _, m := range fn.ByOp[g.op] {
				if (line == 0 || m.Line == line) && (op == "" || op == m.Op) {
					found = append(found, m)
				}
			}
		}
	}
	return found
}
