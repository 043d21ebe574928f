package protocol

// Part is what `gotrace latency` must say of the goroutines that were started with a function; the done
// line of a target may carry a list of them as "parts", for selftests/reference/cmd/latency. It is of the
// sum of some of latency's parts ("oncpu_ns"), or of one part as far as it is under a name ("futex"), and
// is either a time that the target has measured, or the share of other parts that was built to be
// so. The function "*" is all of them together. Windows are the goroutines, and the times that it is of;
// none: of all there are, as long as they lived.
type Part struct {
	Function string     `json:"function"`
	Windows  []Window   `json:"windows,omitempty"`
	Parts    []string   `json:"parts"`
	Name     string     `json:"name,omitempty"`
	NS       int64      `json:"ns"`
	Least    bool       `json:"least,omitempty"` // it is NS or more
	Share    [2]float64 `json:"share"`           // from, to; 0, 0: NS is it
	Of       []string   `json:"of,omitempty"`    // the share; none: of the total
	From     string     `json:"from"`            // who says so
}

// Window is a time of a goroutine, by CLOCK_MONOTONIC.
type Window struct {
	G    int   `json:"g"`
	From int64 `json:"from"`
	To   int64 `json:"to"`
}
