// Package kernel compares kernel events, as printed by `gotrace events --kernel --json`, with
// perf's recording of the same threads, and with a target's own counts of its system calls and
// threads.
package kernel

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Thread is another thread in an item.
type Thread struct {
	M    int    `json:"m"`
	Pid  int    `json:"pid"`
	Name string `json:"name"`
}

// Item is one kernel event; its members are the common ones and those that apply to its kind.
type Item struct {
	Time      int64  `json:"time"` // ns
	M         int    `json:"m"`
	G         *int64 `json:"g"`
	Event     string `json:"event"`
	Kind      string `json:"kind"`
	CPU       int    `json:"cpu"`
	Why       string `json:"why"`
	Before    Thread `json:"before"`
	Then      Thread `json:"then"`
	By        Thread `json:"by"`
	Interrupt bool   `json:"interrupt"`
	Syscall   string `json:"syscall"`
	Number    int    `json:"number"`
	Result    int64  `json:"result"`
	Name      string `json:"name"`
}

// Done is the part of a target's done line with the times of its work, by CLOCK_MONOTONIC.
type Done struct {
	From, To int64
	Calls    []Call
	Before   []Named
	Ended    []Named
	Listed   int64 // when it began to list After
	After    []Named
}

// Call is the number of system calls with a result by the goroutines of a function.
type Call struct {
	Function string
	Name     string
	Result   int64
	Count    int
}

// Named is a thread and its name.
type Named struct {
	ID   int
	Name string
}

// LoadItems reads the lines of events and keeps the kernel events.
func LoadItems(path string) ([]Item, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var items []Item
	for d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20)); ; {
		var item Item
		if err := d.Decode(&item); err == io.EOF {
			return items, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if item.Kind == "Kernel" {
			items = append(items, item)
		}
	}
}

// LoadDone reads a target's done line.
func LoadDone(path string) (done Done, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &done)
	}
	if err == nil && done.From >= done.To {
		err = fmt.Errorf("%s does not say when the work was", path)
	}
	return done, err
}
