package compare

// This file aligns two sequences that should be equal: the transitions of one goroutine (or P) in
// the runtime's own trace and in ours.

// item is the part of a transition that alignment needs.
type item struct {
	key  uint64 // from, to and reason
	time int64
}

const (
	// maxApart is the largest distance in time between two transitions that count as the same.
	// It is far above any expected difference, so that a constant offset between the clocks
	// shows as such and not as a sequence of differences, and above the time for which a busy
	// machine preempts a thread between the probe and the runtime's timestamp.
	maxApart = 250e6
	// lookahead limits how many transitions are skipped at once to find the sequences equal
	// again.
	lookahead = 24
	// run is the number of consecutive transitions that must be equal again.
	run = 3
)

// pair is an aligned pair of indices; -1 on one side means no counterpart.
type pair struct{ t, o int }

// starts is how many starts of t in o are tried, before and after the nearest one.
const starts = 8

// align pairs the items of t and o in order. t begins at the item of o that is nearest in time, as
// sequences are often periodic. If that leaves items without a counterpart, the thread may have been
// preempted between the probe and the runtime's timestamp of the first item, for longer than half a
// period (a thread of C and its calls have the same goroutine number as the one before it), or the
// period is as short as the uncertainty of the clocks: then of the starts around it the one that
// leaves the fewest is used.
func align(t, o []item) []pair {
	nearest := firstMatch(t, o)
	best := alignFrom(t, o, nearest)
	least := unpaired(best)
	try := func(from, step int) {
		for n, j := 0, from; least > 0 && n < starts && j >= 0 && j < len(o); j += step {
			if abs(o[j].time-t[0].time) > maxApart {
				return
			}
			if !same(t[0], o[j]) {
				continue
			}
			n++
			pairs := alignFrom(t, o, j)
			if left := unpaired(pairs); left < least {
				best, least = pairs, left
			}
		}
	}
	if len(t) > 0 {
		try(nearest-1, -1)
		try(nearest+1, 1)
	}
	return best
}

// unpaired is the number of items without a counterpart, but for those of o before the first and
// after the last item of t, as o covers a wider window.
func unpaired(pairs []pair) int {
	first, last, paired := -1, -1, 0
	for i, p := range pairs {
		if p.t >= 0 {
			last = i
			if first < 0 {
				first = i
			}
			if p.o >= 0 {
				paired++
			}
		}
	}
	return last - first + 1 - paired
}

// alignFrom pairs the items of t with those of o from index j on. Where they differ it skips the
// fewest items (of either side) after which several in a row are equal again.
func alignFrom(t, o []item, j int) []pair {
	pairs := make([]pair, 0, max(len(t), len(o)))
	i := 0
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

// firstMatch finds the start of sequence t in o: of the items equal to the first of t the nearest in
// time. o covers a wider window, so earlier items are not a difference.
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
		return best
	}
	// The first transition has no counterpart: begin with the first item that is not earlier.
	for best < len(o) && o[best].time < t[0].time {
		best++
	}
	return best
}

// skipCost is the weight of a skipped transition, in nanoseconds of time difference.
const skipCost = 200

// resync returns how many items of each side to skip, at least one. Of all places where several in
// a row are equal again it selects the one whose time difference is nearest to the last one and
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
	// No match found: drop the earlier one.
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
