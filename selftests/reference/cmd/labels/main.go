// Labels compares the figures that gotrace prints by labels of goroutines with a second computation.
//
//	labels GOTRACE TRACE KEY
//
// Compared are `gotrace goroutines --by label:KEY`, the same times of `gotrace latency`, and for each
// value the number of events of `gotrace events --label KEY=VALUE`, the times of `gotrace goroutines
// --label KEY=VALUE` and the sum of its waits for a P, by `gotrace waits` and `gotrace histogram`. Findings go to standard output; exit status 1 if there are any.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/labels"
	"gotrace-bpf/selftests/reference/internal/tracefile"
)

func main() {
	command.Usage(len(os.Args) == 4, "labels GOTRACE TRACE KEY")
	c := comparison{gotrace: os.Args[1], file: os.Args[2], model: labels.New(os.Args[3])}
	err := c.run()
	command.End(c.wrong == 0, err)
}

type comparison struct {
	gotrace, file string
	model         *labels.Model
	wrong         int
}

// row is a group of `gotrace goroutines --json` or a function of `gotrace latency --json`.
type row struct {
	Name      string  `json:"name"`
	Value     *string `json:"value"`
	Count     int64   `json:"count"`
	Exec      int64   `json:"exec"`
	SchedWait int64   `json:"sched_wait"`
	Total     int64   `json:"total"`
	TotalNs   int64   `json:"total_ns"`
}

type output struct {
	Groups    []row `json:"groups"`
	Functions []row `json:"functions"`
}

func (c *comparison) output(args ...string) ([]byte, error) {
	cmd := exec.Command(c.gotrace, append(args, c.file)...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}

func (c *comparison) rows(args ...string) ([]row, error) {
	text, err := c.output(append(args, "--json")...)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", args, err)
	}
	var out output
	err = json.Unmarshal(text, &out)
	return append(out.Groups, out.Functions...), err
}

func (c *comparison) compare(what, value string, got, want int64) {
	if got != want {
		fmt.Printf("%s, value %q: %d, expected %d\n", what, value, got, want)
		c.wrong++
	}
}

func (c *comparison) run() error {
	_, err := tracefile.WalkFile(c.file, func(_ int, ev *trace.Event) error {
		c.model.Event(ev)
		return nil
	})
	if err != nil {
		return err
	}
	c.model.Finish()
	command.Check(c.groups())
	for value := range c.model.Groups {
		if value == labels.None {
			continue
		}
		command.Check(c.filters(value))
	}
	return nil
}

func (c *comparison) groups() error {
	groups, err := c.rows("goroutines", "--by", "label:"+c.model.Key)
	if err != nil {
		return err
	}
	latency, err := c.rows("latency", "--by", "label:"+c.model.Key)
	if err != nil {
		return err
	}
	c.compare("number of groups", "", int64(len(groups)), int64(len(c.model.Groups)))
	c.compare("number of groups of latency", "", int64(len(latency)), int64(len(c.model.Groups)))
	for i, r := range append(groups, latency...) {
		value := labels.None
		if r.Value != nil {
			value = *r.Value
		}
		want := c.model.Groups[value]
		if want == nil {
			c.compare("there is a group", value, 1, 0)
			continue
		}
		c.compare("periods", value, r.Count, want.Count)
		if i >= len(groups) {
			c.compare("total time of latency", value, r.TotalNs, want.Total)
			continue
		}
		c.compare("time running", value, r.Exec, want.Exec)
		c.compare("time runnable", value, r.SchedWait, want.SchedWait)
		if value != labels.None { // which contains goroutines that are blocked forever
			c.compare("total time", value, r.Total, want.Total)
		}
		fmt.Printf("value %q: %d periods, %d ns running\n", value, r.Count, r.Exec)
	}
	return nil
}

// waits compares the sum of all waits for a P.
func (c *comparison) waits(label, value string) error {
	const most = 10000
	text, err := c.output("waits", "--json", "--kind", "sched", "--runtime",
		"--longest", fmt.Sprint(most), "--label", label)
	if err != nil {
		return err
	}
	var out struct {
		Waits []struct {
			From int64 `json:"from_ns"`
			To   int64 `json:"to_ns"`
		} `json:"waits"`
	}
	command.Check(json.Unmarshal(text, &out))
	var sum int64
	for _, w := range out.Waits {
		sum += w.To - w.From
	}
	if len(out.Waits) < most {
		c.compare("sum of waits", value, sum, c.model.Groups[value].SchedWait)
	}
	return nil
}

// histogram compares the sum of all waits for a P.
func (c *comparison) histogram(label, value string) {
	text := command.Must(c.output("histogram", "--json", "--of", "sched", "--label", label))
	var out struct {
		Sum        int64 `json:"sum_ns"`
		NotCounted int64 `json:"not_counted"`
	}
	command.Check(json.Unmarshal(text, &out))
	if out.NotCounted == 0 {
		c.compare("sum of the histogram", value, out.Sum, c.model.Groups[value].SchedWait)
	}
}

// filters compares --label for one value; * and ? in it match themselves.
func (c *comparison) filters(value string) error {
	want := c.model.Groups[value]
	if strings.ContainsRune(value, 0) || strings.Contains(c.model.Key, "=") {
		return nil // no argument can express it
	}
	label := c.model.Key + "=" + value
	events := command.Must(c.output("events", "--json", "--label", label))
	c.compare("events", value, int64(bytes.Count(events, []byte("\n"))), int64(want.Events))
	command.Check(c.waits(label, value))
	c.histogram(label, value)
	rows := command.Must(c.rows("goroutines", "--label", label))
	var sum row
	for _, r := range rows {
		sum.Count += r.Count
		sum.Exec += r.Exec
		sum.Total += r.Total
	}
	c.compare("periods of --label", value, sum.Count, want.Count)
	c.compare("time running of --label", value, sum.Exec, want.Exec)
	c.compare("total time of --label", value, sum.Total, want.Total)
	return nil
}
