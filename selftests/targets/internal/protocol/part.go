package protocol

// Part is the expected output of `gotrace latency` for the goroutines with a start function; the
// done line of a target may carry a list of them as "parts", for selftests/reference/cmd/latency.
// It refers to the sum of some of latency's components ("oncpu_ns"), or to one component restricted
// to a name ("futex"), and is either a time that the target has measured, or a share of other
// components that follows from the target's design. The function "*" is all of them together.
// Windows restricts it to goroutines and periods; none: all goroutines, for their lifetime.
type Part struct {
	Function string     `json:"function"`
	Windows  []Window   `json:"windows,omitempty"`
	Parts    []string   `json:"parts"`
	Name     string     `json:"name,omitempty"`
	NS       int64      `json:"ns"`
	Least    bool       `json:"least,omitempty"` // the time is NS or more
	Stolen   int64      `json:"stolen"`          // the time is up to so much more than NS; less, if negative
	Share    [2]float64 `json:"share"`           // from, to; 0, 0: NS applies
	Of       []string   `json:"of,omitempty"`    // the share; none: of the total
	From     string     `json:"from"`            // the source of the number
}

// Window is a time of a goroutine, by CLOCK_MONOTONIC.
type Window struct {
	G    int   `json:"g"`
	From int64 `json:"from"`
	To   int64 `json:"to"`
}
