package compare

// This file aligns two sequences that should be equal: one goroutine's (or P's) transitions in
// the runtime's own trace and in ours.

// item is what alignment needs of a transition.
type item struct {
	key  uint64 // from, to and reason
	time int64
}

const (
	// maxApart is how far apart in time two transitions may be and still be taken for the same
	// one. It is far above any honest difference, so that a constant offset between the clocks
	// shows as such and not as a sequence of nothing but differences; and above the time for
	// which a busy machine takes the CPU from a thread between our probe and the runtime's stamp.
	maxApart = 250e6
	// lookahead bounds how many transitions are skipped at once to find the sequences equal again.
	lookahead = 24
	// run is how many transitions in a row must be equal again.
	run = 3
)

// pair is an aligned pair of indices; -1 on one side means no counterpart.
type pair struct{ t, o int }

// align pairs the items of t and o in order. Where they differ it skips the fewest items (of
// either side) after which some in a row are equal again.
func align(t, o []item) []pair {
	pairs := make([]pair, 0, max(len(t), len(o)))
	i, j := 0, firstMatch(t, o)
	apart := int64(0) // time difference of the last pair
	for k := 0; k < j; k++ {
		pairs = append(pairs, pair{-1, k})
	}
	for i < len(t) && j < len(o) {
		if same(t[i], o[j]) {
			pairs = append(pairs, pair{i, j})
			apart = o[j].time - t[i].time
			i, j = i+1, j+1
			continue
		}
		di, dj := resync(t[i:], o[j:], apart)
		for ; di > 0; di-- {
			pairs = append(pairs, pair{i, -1})
			i++
		}
		for ; dj > 0; dj-- {
			pairs = append(pairs, pair{-1, j})
			j++
		}
	}
	for ; i < len(t); i++ {
		pairs = append(pairs, pair{i, -1})
	}
	for ; j < len(o); j++ {
		pairs = append(pairs, pair{-1, j})
	}
	return pairs
}

func same(a, b item) bool { return a.key == b.key && abs(a.time-b.time) <= maxApart }

// firstMatch finds where in o the sequence t begins. o covers a wider window, so what precedes is
// no difference. The nearest in time of the equal ones is taken: sequences are often periodic, so
// the first equal one may be a period early. So may the nearest be, if the period is as short as
// the clocks are uncertain: of those about as near, the one from which the most are equal is taken.
func firstMatch(t, o []item) int {
	if len(t) == 0 {
		return 0
	}
	best, found := 0, false
	for j := range o {
		if o[j].time > t[0].time+maxApart {
			break
		}
		nearer := !found || abs(o[j].time-t[0].time) < abs(o[best].time-t[0].time)
		if same(t[0], o[j]) && nearer {
			best, found = j, true
		}
	}
	if found {
		return longestRun(t, o, best)
	}
	// The first transition has no counterpart: begin with what lies no earlier than it.
	for best < len(o) && o[best].time < t[0].time {
		best++
	}
	return best
}

// unsure is by how much the clocks of a v1 trace and ours may differ after all.
const unsure = 20e3

// longestRun is the start in o, as near to t[0] as o[nearest] within unsure, from which the most
// items are equal; of several such starts the nearest.
func longestRun(t, o []item, nearest int) int {
	limit := abs(o[nearest].time-t[0].time) + unsure
	best, most := nearest, equalItems(t, o[nearest:])
	for j := range o {
		if j == nearest || abs(o[j].time-t[0].time) > limit || !same(t[0], o[j]) {
			continue
		}
		n := equalItems(t, o[j:])
		if n > most || n == most && abs(o[j].time-t[0].time) < abs(o[best].time-t[0].time) {
			best, most = j, n
		}
	}
	return best
}

func equalItems(t, o []item) int {
	n := 0
	for n < len(t) && n < len(o) && same(t[n], o[n]) {
		n++
	}
	return n
}

// skipCost is what skipping one transition weighs in nanoseconds of time difference.
const skipCost = 200

// resync returns how many items of each side to skip, at least one. Of all places where some in a
// row are equal again it takes the one whose time difference is nearest to the last one seen and
// that skips little: in a periodic sequence the fewest skipped may be a period off.
func resync(t, o []item, apart int64) (di, dj int) {
	best := int64(-1)
	for a := 0; a <= lookahead; a++ {
		for b := 0; a+b <= lookahead; b++ {
			if a+b == 0 || !equalRun(t, o, a, b) {
				continue
			}
			cost := abs(o[b].time-t[a].time-apart) + skipCost*int64(a+b)
			if best < 0 || cost < best {
				best, di, dj = cost, a, b
			}
		}
	}
	if best >= 0 {
		return di, dj
	}
	// Hopeless here: give up the earlier one.
	if t[0].time <= o[0].time {
		return 1, 0
	}
	return 0, 1
}

func equalRun(t, o []item, a, b int) bool {
	if a >= len(t) || b >= len(o) {
		return false
	}
	n := min(run, len(t)-a, len(o)-b)
	for k := 0; k < n; k++ {
		if !same(t[a+k], o[b+k]) {
			return false
		}
	}
	return true
}

func abs(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}
