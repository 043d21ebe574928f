// Diff compares `gotrace diff --json` with a second computation on golang.org/x/exp/trace: the figures of
// goroutines and requests, their errors, and which of them differ by more than noise. Student's
// distribution is integrated numerically.
//
//	diff [-per second|request] [-slices N] GOTRACE A B
//	diff -make SEED [-slower FACTOR] [-requests N] [-share PART] [-spread S] OUT
//
// With -make it writes a trace of a load that is random, but the same for all seeds: goroutines answer
// requests one at a time, and main.work takes FACTOR times as long. With -share, only a random PART of
// what would be requests are marked as such. With -spread 0 the load is strictly periodic. Differences go
// to standard output; exit status 1 if there are any.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/annotations"
	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

const (
	errorRate        = 0.01
	leastNS          = 1e6
	leastRequests    = 20 // per which a figure is tested
	leastRequestsP99 = 100
)

func main() {
	seed := flag.Uint64("make", 0, "write a trace made of this seed")
	slower := flag.Float64("slower", 1, "how much longer main.work takes in it")
	requests := flag.Int("requests", 400, "how many requests it has")
	share := flag.Float64("share", 1, "the part of the work in it that belongs to a request")
	spread := flag.Float64("spread", 0.3, "the standard deviation of the logarithm of times in it")
	per := flag.String("per", "second", "the unit")
	slices := flag.Int("slices", 20, "samples of each recording")
	flag.Parse()
	var err error
	same := true
	switch {
	case *seed != 0 && flag.NArg() == 1:
		err = os.WriteFile(flag.Arg(0), madeTrace(*seed, *slower, *requests, *share, *spread), 0o600)
	case *seed == 0 && flag.NArg() == 3:
		same, err = compare(flag.Arg(0), flag.Arg(1), flag.Arg(2), *per, *slices)
	default:
		fmt.Fprintln(os.Stderr, "usage: diff GOTRACE A B, or diff -make SEED OUT")
		os.Exit(2)
	}
	command.End(same, err)
}

// key identifies a figure.
type key struct{ Group, Name, Figure string }

// estimate is a value and its standard error.
type estimate struct {
	Value *float64 `json:"value"`
	Error *float64 `json:"error"`
}

// row is a figure of the output.
type row struct {
	key
	A, B       estimate
	Unit       string
	Difference float64
	Low, High  *float64
	Tested     bool
	Result     string
}

// side is a recording in slices.
type side struct {
	*annotations.Trace
	bounds    []int64
	sums      map[key][]float64
	weights   map[string][]float64 // "second", "request", and "request NAME"
	quantiles map[key][]int64      // the lengths of all slices together
	parts     map[key][][]int64    // of each slice
}

func load(gotrace, file string, slices int) (*side, error) {
	t, err := annotations.Load(file, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	names, err := startFunctions(gotrace, file)
	if err != nil {
		return nil, err
	}
	s := &side{Trace: t, sums: map[key][]float64{}, weights: map[string][]float64{}, quantiles: map[key][]int64{}, parts: map[key][][]int64{}}
	for i := range slices + 1 {
		// The product may exceed 64 bits in traces of more than 14 years only.
		s.bounds = append(s.bounds, t.Start+(t.End-t.Start)*int64(i)/int64(slices))
	}
	s.weights["second"], s.weights["request"] = make([]float64, slices), make([]float64, slices)
	for i := range slices {
		s.weights["second"][i] = float64(s.bounds[i+1]-s.bounds[i]) / 1e9
	}
	statuses, err := exec.Command(gotrace, "events", "--json", "--type", "GoStatus,GoStatusStack", file).Output()
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	reasons, err := tracefile.FirstReasons(bytes.NewReader(statuses))
	if err != nil {
		return nil, err
	}
	for g, states := range t.States {
		if states[0].Is == "Waiting" && states[0].Reason == "" {
			states[0].Reason = reasons[trace.GoID(g)]
		}
		s.addStates(names[g], states)
	}
	for g, assists := range t.Assists {
		for _, a := range assists {
			s.addTime(key{"function", names[g], "mark assist"}, a.From, a.To)
			s.addTime(key{"gc", "", "mark assists"}, a.From, a.To)
		}
	}
	for _, task := range t.Tasks {
		if task.Ended {
			s.addTask(task)
		}
	}
	return s, nil
}

func startFunctions(gotrace, file string) (map[int64]string, error) {
	var all struct {
		Goroutines []struct {
			ID   int64  `json:"id"`
			Name string `json:"name"`
		} `json:"goroutines"`
	}
	if err := run(&all, gotrace, "goroutines", "--json", "--all", file); err != nil {
		return nil, err
	}
	functions := map[int64]string{}
	for _, g := range all.Goroutines {
		functions[g.ID] = g.Name
	}
	return functions, nil
}

func run(into any, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%v: %w", args, err)
	}
	return json.Unmarshal(out, into)
}

func (s *side) sum(k key) []float64 {
	if s.sums[k] == nil {
		s.sums[k] = make([]float64, len(s.bounds)-1)
	}
	return s.sums[k]
}

// addTime looks at every slice.
func (s *side) addTime(k key, from, to int64) {
	for i := range len(s.bounds) - 1 {
		if ns := min(to, s.bounds[i+1]) - max(from, s.bounds[i]); ns > 0 {
			s.sum(k)[i] += float64(ns)
		}
	}
}

func (s *side) addStates(name string, states []annotations.State) {
	figures := map[string]string{"Running": "running", "Runnable": "runnable", "Waiting": "blocked", "Syscall": "syscall"}
	for i, state := range states {
		to := s.End
		if i+1 < len(states) {
			to = states[i+1].At
		}
		figure, counts := figures[state.Is]
		if !counts {
			continue
		}
		s.addTime(key{"function", name, figure}, state.At, to)
		switch state.Is {
		case "Waiting":
			s.addTime(key{"reason", state.Reason, "blocked"}, state.At, to)
		case "Runnable":
			s.addTime(key{"scheduler", "", "waits"}, state.At, to)
		}
	}
}

// slice is the slice in which something ends.
func (s *side) slice(time int64) int {
	i := sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i] > time }) - 1
	return min(i, len(s.bounds)-2)
}

func (s *side) addTask(t *annotations.Task) {
	i, ns := s.slice(t.End), t.End-t.Begin
	s.weights["request"][i]++
	s.sum(key{"request", t.Name, "rate"})[i]++
	s.sum(key{"request", t.Name, "mean"})[i] += float64(ns)
	if t.Failed {
		s.sum(key{"request", t.Name, "errors"})[i]++
	}
	s.weights["request "+t.Name] = s.sum(key{"request", t.Name, "rate"})
	for _, name := range []string{"p50", "p99"} {
		k := key{"request", t.Name, name}
		if s.parts[k] == nil {
			s.parts[k] = make([][]int64, len(s.bounds)-1)
		}
		s.parts[k][i] = append(s.parts[k][i], ns)
		s.quantiles[k] = append(s.quantiles[k], ns)
	}
}

// unit is what the sums of a figure are divided by.
func (s *side) unit(k key, per string) []float64 {
	switch {
	case k.Group == "request" && k.Figure == "rate":
		return s.weights["second"]
	case k.Group == "request":
		return s.weights["request "+k.Name]
	}
	return s.weights[per]
}

func sum(of []float64) (all float64) {
	for _, x := range of {
		all += x
	}
	return all
}

// joined returns the sums and weights of groups of slices, each of which ends with a slice that has a
// weight; the last group has the rest, too.
func joined(sums, weights []float64) (x, w []float64) {
	begins := true
	for i := range weights {
		switch {
		case begins && slices.Max(weights[i:]) > 0:
			x, w = append(x, 0), append(w, 0)
			begins = false
		case len(w) == 0:
			return nil, nil
		}
		x[len(x)-1] += sums[i]
		w[len(w)-1] += weights[i]
		begins = weights[i] > 0
	}
	return x, w
}

// mean returns the ratio of the sums and its standard error by the formula of survey sampling.
func mean(sums, weights []float64) (value, error float64, n int) {
	sums, weights = joined(sums, weights)
	var x, w float64
	for i := range weights {
		if weights[i] > 0 {
			x, w, n = x+sums[i], w+weights[i], n+1
		}
	}
	value = x / w
	var squares float64
	for i := range weights {
		if weights[i] > 0 {
			squares += math.Pow(sums[i]-value*weights[i], 2)
		}
	}
	average := w / float64(n)
	return value, math.Sqrt(squares/float64(n-1)/float64(n)) / average, n
}

func compare(gotrace, a, b, per string, slices int) (bool, error) {
	var out struct {
		Per     string
		Tested  int
		Figures []row
	}
	if err := run(&out, gotrace, "diff", "--json", "--per", per, "--slices", strconv.Itoa(slices), a, b); err != nil {
		return false, err
	}
	of := [2]*side{}
	for i, file := range []string{a, b} {
		var err error
		if of[i], err = load(gotrace, file, slices); err != nil {
			return false, err
		}
	}
	c := comparison{of: of, per: per, tested: out.Tested}
	have := map[key]bool{}
	tested := 0
	for _, r := range out.Figures {
		have[r.key] = true
		if r.Tested {
			tested++
		}
		c.row(&r)
	}
	for _, s := range of {
		for k := range s.sums {
			if !have[k] && !(k.Figure == "errors") {
				c.differ("%v is missing", k)
			}
		}
	}
	if tested != out.Tested {
		c.differ("%d figures are tested, of %d", tested, out.Tested)
	}
	for i, file := range []string{a, b} {
		if err := c.commands(gotrace, file, i, out.Figures); err != nil {
			return false, err
		}
	}
	fmt.Printf("%d figures compared, %d with a result\n", c.n, c.results)
	return c.wrong == 0 && c.n > 0, nil
}

// commands compares what other commands print, which have oracles of their own: the parts of requests, and
// the lengths of waits, GC cycles and pauses.
func (c *comparison) commands(gotrace, file string, i int, figures []row) error {
	values := map[key]*float64{}
	for _, r := range figures {
		values[r.key] = []estimate{r.A, r.B}[i].Value
	}
	equal := func(k key, times, want float64) {
		if v := values[k]; v == nil && want != 0 || v != nil && !near(*v*times, want) {
			c.differ("%v of %s: not %v / %v", k, file, want, times)
		} else if v != nil {
			c.n++
		}
	}
	var requests struct {
		Requests []struct {
			Name  string
			Count float64
			Time  map[string]any
		}
	}
	if err := run(&requests, gotrace, "requests", "--json", file); err != nil {
		return err
	}
	parts := map[string]string{
		"oncpu_ns": "on CPU", "go_runnable_ns": "Go-runnable", "kernel_runnable_ns": "kernel-runnable",
		"throttled_ns": "throttled", "kernel_blocked_ns": "kernel-blocked",
		"syscall_blocked_ns": "syscall-blocked", "go_blocked_ns": "Go-blocked",
	}
	for _, r := range requests.Requests {
		for member, figure := range parts {
			if ns, has := r.Time[member].(float64); has && r.Count > 0 {
				equal(key{"request", r.Name, figure}, r.Count, ns)
			}
		}
	}
	weight := sum(c.of[i].weights[c.per])
	for of, sum := range map[string]string{"gc": "mark phases", "stw": "stop-the-world", "sched": ""} {
		var h struct {
			Count float64
			Sum   float64  `json:"sum_ns"`
			P50   *float64 `json:"p50_ns"`
			P99   *float64 `json:"p99_ns"`
		}
		if err := run(&h, gotrace, "histogram", "--json", "--of", of, file); err != nil {
			return err
		}
		if sum != "" {
			equal(key{"gc", "", sum}, weight, h.Sum)
		}
		switch {
		case of == "gc":
			equal(key{"gc", "", "cycles"}, weight, h.Count)
		case of == "stw" && h.P99 != nil:
			equal(key{"gc", "", "stop-the-world, p99"}, 1, *h.P99)
		case of == "sched" && h.P99 != nil:
			equal(key{"scheduler", "", "wait, p50"}, 1, *h.P50)
			equal(key{"scheduler", "", "wait, p99"}, 1, *h.P99)
		}
	}
	return nil
}

type comparison struct {
	of                [2]*side
	per               string
	tested            int
	n, results, wrong int
}

func (c *comparison) differ(format string, args ...any) {
	if c.wrong++; c.wrong < 20 {
		fmt.Printf(format+"\n", args...)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))+1e-9 }

func (c *comparison) row(r *row) {
	if _, is := c.of[0].quantiles[r.key]; is && r.A.Value != nil {
		c.quantile(r)
	}
	if c.of[0].sums[r.key] == nil && c.of[1].sums[r.key] == nil {
		c.result(r, 0, 0, 0, 0, false)
		return
	}
	var value, sigma, freedom [2]float64
	least, enough, margin := false, true, 0.0
	for i, s := range c.of {
		have := []estimate{r.A, r.B}[i]
		weights := s.unit(r.key, c.per)
		if weights == nil {
			if have.Value != nil {
				c.differ("%v: %v without a weight", r.key, *have.Value)
			}
			return
		}
		var n int
		value[i], sigma[i], n = mean(s.sum(r.key), weights)
		freedom[i] = float64(n - 1)
		if have.Value == nil || !near(*have.Value, value[i]) || n > 1 && (have.Error == nil || !near(*have.Error, sigma[i])) {
			c.differ("%v: %+v, by the events %v and %v", r.key, have, value[i], sigma[i])
			return
		}
		if n < 2 {
			return
		}
		least = least || sum(s.sum(r.key))/(float64(s.End-s.Start)/1e9) >= leastNS
		total := sum(weights)
		enough = enough && (&weights[0] == &s.weights["second"][0] || total >= leastRequests)
		if r.Unit == "number" { // one event may be just outside of the recording
			margin += 1 / total
		}
	}
	c.n++
	if r.Figure == "rate" || r.Figure == "mean" || r.Figure == "errors" {
		least = value[0] > 0 || value[1] > 0
	}
	if (least && enough) != r.Tested {
		c.differ("%v: tested is %v", r.key, r.Tested)
	}
	variance := sigma[0]*sigma[0] + sigma[1]*sigma[1]
	c.result(r, value[1]-value[0], math.Sqrt(variance), margin,
		variance*variance/(math.Pow(sigma[0], 4)/freedom[0]+math.Pow(sigma[1], 4)/freedom[1]), true)
}

// quantile compares the value, which may be off by half a class.
func (c *comparison) quantile(r *row) {
	share := map[string]float64{"p50": 0.5, "p99": 0.99}[r.Figure]
	all := c.of[0].quantiles[r.key]
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	want := float64(all[max(int(math.Ceil(share*float64(len(all)))), 1)-1])
	if math.Abs(*r.A.Value-want) > want/30+1 {
		c.differ("%v: %v, by the events %v", r.key, *r.A.Value, want)
	}
	least := map[string]int{"p50": leastRequests, "p99": leastRequestsP99}[r.Figure]
	if n := min(len(all), len(c.of[1].quantiles[r.key])); r.Tested && n < least {
		c.differ("%v is tested, of %d requests", r.key, n)
	}
	c.n++
}

// result compares the interval with that of the probability; without `known`, only result and interval.
// The interval is wider by the margin on both sides.
func (c *comparison) result(r *row, difference, sigma, margin, freedom float64, known bool) {
	if r.Low == nil || r.High == nil {
		if r.Tested {
			c.differ("%v is tested without an interval", r.key)
		}
		return
	}
	if found := r.Result != "noise"; found != (r.Tested && (*r.Low > 0 || *r.High < 0)) {
		c.differ("%v: %s, although the interval is %v to %v", r.key, r.Result, *r.Low, *r.High)
	}
	if !known {
		return
	}
	c.results++
	if sigma <= 1e-9*math.Max(*r.A.Value, *r.B.Value) { // of figures that are the same in all slices only rounding is left
		least := 1e-6 * (*r.A.Value + *r.B.Value)
		if math.Abs(*r.Low+margin-difference) > least || math.Abs(*r.High-margin-difference) > least {
			c.differ("%v: an interval without an error", r.key)
		}
		return
	}
	// The probability beyond the end of the interval is the allowed one.
	t := (*r.High - margin - difference) / sigma
	want := errorRate / 2 / float64(max(c.tested, 1))
	if got := tail(t, freedom); math.Abs(got-want) > 1e-3*want {
		c.differ("%v: beyond the interval the probability is %v, not %v", r.key, got, want)
	}
	if !near((*r.High+*r.Low)/2, difference) {
		c.differ("%v: the interval is not around the difference", r.key)
	}
}

// tail is the probability that a variable with Student's distribution exceeds t, by integrating its density
// over x = sqrt(freedom) * tan(angle) with Simpson's rule.
func tail(t, freedom float64) float64 {
	const steps = 20000
	gamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	scale := math.Exp(gamma((freedom+1)/2)-gamma(freedom/2)) / math.Sqrt(math.Pi)
	from := math.Atan(t / math.Sqrt(freedom))
	width := (math.Pi/2 - from) / steps
	sum := 0.0
	for i := 0; i <= steps; i++ {
		weight := 2.0
		if i == 0 || i == steps {
			weight = 1
		} else if i%2 == 1 {
			weight = 4
		}
		sum += weight * math.Pow(math.Max(math.Cos(from+float64(i)*width), 0), freedom-1)
	}
	return scale * sum * width / 3
}
