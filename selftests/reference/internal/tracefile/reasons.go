package tracefile

import (
	"encoding/json"
	"io"

	"golang.org/x/exp/trace"
)

// FirstReasons reads, from the output of `gotrace events --json`, why goroutines wait whose first state
// is waiting. Go's reader does not know it; selftests/check/parked.sh compares it with the goroutine profile.
func FirstReasons(in io.Reader) (map[trace.GoID]string, error) {
	reasons := map[trace.GoID]string{}
	for lines := json.NewDecoder(in); lines.More(); {
		var ev struct {
			Goroutine        trace.GoID
			From, To, Reason string
		}
		if err := lines.Decode(&ev); err != nil {
			return nil, err
		}
		if ev.From == "Undetermined" && ev.To == "Waiting" {
			reasons[ev.Goroutine] = ev.Reason
		}
	}
	return reasons, nil
}
