package compare

// This file matches counted events: of both traces' samples with one name and value the two nearest
// in time are matched, then the nearest two of the rest, and so on. A missing event is thus found
// at its time, even among many; if matched in order, the last one would be unmatched instead,
// possibly at the window's edge.

import (
	"container/heap"
	"slices"
)

// sample is an event with its value, "" if it has none.
type sample struct {
	time  int64
	value string
}

// match returns which of the truth's samples and of ours have no counterpart.
func (c *comparer) match(truth, ours []sample) (leftT, leftO []bool) {
	leftT, leftO = make([]bool, len(truth)), make([]bool, len(ours))
	byValue := map[string][]*node{}
	add := func(list []sample, left []bool, ours bool) {
		for i, s := range list {
			left[i] = true
			byValue[s.value] = append(byValue[s.value], &node{sample: s, ours: ours, left: &left[i]})
		}
	}
	add(truth, leftT, false)
	add(ours, leftO, true)
	for _, list := range byValue {
		c.matchNearest(list)
	}
	return leftT, leftO
}

// node is a sample in the list of unmatched samples of both traces, ordered by time.
type node struct {
	sample
	ours       bool
	left       *bool
	prev, next *node
}

// couple is two neighbours, one of each trace.
type couple struct {
	a, b *node
}

func (c couple) apart() int64 { return c.b.time - c.a.time }

type couples []couple

func (h couples) Len() int           { return len(h) }
func (h couples) Less(i, j int) bool { return h[i].apart() < h[j].apart() }
func (h couples) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *couples) Push(x any)        { *h = append(*h, x.(couple)) }
func (h *couples) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// matchNearest: the nearest two of both traces are always neighbours among the unmatched ones.
func (c *comparer) matchNearest(list []*node) {
	slices.SortStableFunc(list, func(a, b *node) int { return int(a.time - b.time) })
	var queue couples
	consider := func(a, b *node) {
		if a != nil && b != nil && a.ours != b.ours && c.mayMatch(a, b) {
			heap.Push(&queue, couple{a, b})
		}
	}
	for i := 1; i < len(list); i++ {
		list[i-1].next, list[i].prev = list[i], list[i-1]
		consider(list[i-1], list[i])
	}
	for queue.Len() > 0 {
		m := heap.Pop(&queue).(couple)
		if !*m.a.left || !*m.b.left {
			continue
		}
		*m.a.left, *m.b.left = false, false
		before, after := m.a.prev, m.b.next
		if before != nil {
			before.next = after
		}
		if after != nil {
			after.prev = before
		}
		consider(before, after)
	}
}

// mayMatch: a late timestamp may be as far off as a transition's. But a sample without a value does
// not match one outside the window that is more than Blur away: there always is one.
func (c *comparer) mayMatch(a, b *node) bool {
	most := int64(maxApart)
	if a.value == "" && c.inside(a.time) != c.inside(b.time) {
		most = int64(c.Blur)
	}
	return b.time-a.time <= most
}
