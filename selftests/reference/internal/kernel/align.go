package kernel

import (
	"math"
	"slices"
)

// price is what an alignment costs so far: items that are wrong to have no partner, then ns.
type price struct{ wrong, apart int64 }

func (p price) and(wrong bool, apart int64) price {
	if wrong {
		p.wrong++
	}
	return price{p.wrong, p.apart + apart}
}

func (p price) below(q price) bool {
	return p.wrong < q.wrong || p.wrong == q.wrong && p.apart < q.apart
}

// row holds the states of an alignment with a number of ours used up, from `first` of theirs on,
// and the last step to each.
type row struct {
	first int
	price []price
	step  []step
}

type step byte

const (
	start step = iota
	skipOurs
	skipTheirs
	match
)

func (r *row) at(j int) price {
	if j < r.first || j >= r.first+len(r.price) {
		return price{math.MaxInt64, 0}
	}
	return r.price[j-r.first]
}

// align returns for each of ours the index of its partner in theirs, or -1. Of all alignments that
// keep both orders it is one with the fewest items that are wrong to be alone, and of these one with
// the smallest distances. A look at the neighbours is not enough: one of the two clocks may be read
// so late that the thread's next switch is nearer, and perf may have one event in two.
func align(ours, theirs []Item, wrongA, wrongB func(Item) bool) []int {
	rows := make([]row, 0, len(ours)+1)
	for i := 0; i <= len(ours); i++ {
		first, end := 0, len(theirs)
		if i > 0 {
			first = before(theirs, ours[i-1].Time-farAway)
		}
		if i < len(ours) {
			end = before(theirs, ours[i].Time+farAway)
		}
		r := row{first: first}
		for j := first; j <= end; j++ {
			best, last := price{math.MaxInt64, 0}, start
			choose := func(p price, s step) {
				if p.below(best) {
					best, last = p, s
				}
			}
			if i == 0 && j == 0 {
				choose(price{}, start)
			}
			if i > 0 && rows[i-1].at(j).wrong != math.MaxInt64 {
				choose(rows[i-1].at(j).and(wrongA(ours[i-1]), farAway), skipOurs)
			}
			if j > first {
				choose(r.at(j-1).and(wrongB(theirs[j-1]), farAway), skipTheirs)
			}
			if i > 0 && j > 0 && rows[i-1].at(j-1).wrong != math.MaxInt64 && alike(ours[i-1], theirs[j-1]) {
				choose(rows[i-1].at(j-1).and(false, abs(ours[i-1].Time-theirs[j-1].Time)), match)
			}
			r.price, r.step = append(r.price, best), append(r.step, last)
		}
		rows = append(rows, r)
	}
	return partners(rows, len(theirs))
}

func partners(rows []row, j int) []int {
	of := make([]int, len(rows)-1)
	for i := len(rows) - 1; i > 0 || j > 0; {
		switch rows[i].step[j-rows[i].first] {
		case skipOurs:
			i--
			of[i] = -1
		case skipTheirs:
			j--
		case match:
			i, j = i-1, j-1
			of[i] = j
		}
	}
	return of
}

// before returns how many items, sorted by time, are before a time.
func before(items []Item, time int64) int {
	n, _ := slices.BinarySearchFunc(items, time, func(item Item, time int64) int {
		return int(min(max(item.Time-time, -1), 1))
	})
	return n
}

func alike(a, b Item) bool {
	return a.Event == b.Event && abs(a.Time-b.Time) < farAway
}
