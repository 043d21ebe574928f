// Overhead summarizes the measurements of selftests/bench/servers: for each program and way of
// tracing the minimum, median and maximum over the rounds, and the ratio of the medians to the
// program that is not traced.
//
//	overhead [-json FILE] [-svg FILE] MEASUREMENTS
//
// MEASUREMENTS has one JSON object per line. A table in Markdown goes to stdout.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
)

type measurement struct {
	Program   string  `json:"program"`
	Row       string  `json:"row"`
	Load      string  `json:"load"`
	CPUNS     float64 `json:"cpu_ns_per_request"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ns"`
	P99       float64 `json:"p99_ns"`
}

type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	Ratio  float64 `json:"ratio"` // of the median, to that of "untraced"
}

// A summary of one way to trace one program. CPU and PerSecond at full load, P50 and P99 at half.
type summary struct {
	Program   string `json:"program"`
	Row       string `json:"row"`
	Rounds    int    `json:"rounds"`
	CPU       spread `json:"cpu_ns_per_request"`
	PerSecond spread `json:"requests_per_second"`
	P50       spread `json:"p50_ns"`
	P99       spread `json:"p99_ns"`
}

var titles = map[string]string{
	"untraced":         "untraced",
	"runtime-trace":    "Go's own tracer",
	"bpftrace-count":   "bpftrace counting runtime.casgstatus",
	"empty-probes":     "empty BPF program at the default probes",
	"sched-no-stacks":  "--events sched --no-stacks",
	"no-stacks":        "--no-stacks",
	"no-kernel":        "without kernel events",
	"default":          "default: all events, stacks",
	"inline-sched":     "--probes inline --events sched",
	"inline-no-kernel": "--probes inline, without kernel events",
	"inline":           "--probes inline",
}

func main() {
	jsonFile := flag.String("json", "", "write the summary to `FILE`")
	svgFile := flag.String("svg", "", "draw the CPU time per request to `FILE`")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	command.Check(run(flag.Arg(0), *jsonFile, *svgFile))
}

func run(name, jsonFile, svgFile string) error {
	all := command.Must(read(name))
	rows := summarize(all)
	table(rows)
	if jsonFile != "" {
		text, err := json.MarshalIndent(rows, "", "  ")
		if err == nil {
			err = os.WriteFile(jsonFile, append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if svgFile != "" {
		return os.WriteFile(svgFile, []byte(draw(rows)), 0o644)
	}
	return nil
}

func read(name string) ([]measurement, error) {
	f := command.Must(os.Open(name))
	defer f.Close()
	var all []measurement
	for in := bufio.NewScanner(f); in.Scan(); {
		var m measurement
		command.Check(json.Unmarshal(in.Bytes(), &m))
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no measurements", name)
	}
	return all, nil
}

// summarize keeps the order in which programs and rows first occur.
func summarize(all []measurement) []summary {
	var rows []summary
	for _, m := range all {
		if slices.ContainsFunc(rows, func(r summary) bool { return r.Program == m.Program && r.Row == m.Row }) {
			continue
		}
		of := func(load string, value func(measurement) float64) spread {
			return spreadOf(all, m.Program, m.Row, load, value)
		}
		r := summary{Program: m.Program, Row: m.Row}
		r.CPU = of("full", func(m measurement) float64 { return m.CPUNS })
		r.PerSecond = of("full", func(m measurement) float64 { return m.PerSecond })
		r.P50 = of("half", func(m measurement) float64 { return m.P50 })
		r.P99 = of("half", func(m measurement) float64 { return m.P99 })
		for _, other := range all {
			if other.Program == m.Program && other.Row == m.Row && other.Load == "full" {
				r.Rounds++
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

func spreadOf(all []measurement, program, row, load string, value func(measurement) float64) spread {
	var values, base []float64
	for _, m := range all {
		if m.Program != program || m.Load != load {
			continue
		}
		if m.Row == row {
			values = append(values, value(m))
		}
		if m.Row == "untraced" {
			base = append(base, value(m))
		}
	}
	s := spread{Median: median(values)}
	if len(values) > 0 {
		s.Min, s.Max = values[0], values[len(values)-1]
	}
	if b := median(base); b > 0 {
		s.Ratio = s.Median / b
	}
	return s
}

func title(row string) string {
	if t, ok := titles[row]; ok {
		return t
	}
	return row
}

func table(rows []summary) {
	program := ""
	for _, r := range rows {
		if r.Program != program {
			program = r.Program
			fmt.Printf("\n%s, %d interleaved rounds; ratios of medians to the untraced program\n\n", program, r.Rounds)
			fmt.Println("| | CPU per request, us: min, median, max | ratio | requests/s: min, median, max | ratio | " +
				"p50 at half load | p99 at half load |")
			fmt.Println("|---|---|---|---|---|---|---|")
		}
		us := func(v float64) string { return fmt.Sprintf("%.1f", v/1e3) }
		fmt.Printf("| %s | %s %s %s | %.2f | %.0f %.0f %.0f | %.2f | %.2f | %.2f |\n", title(r.Row),
			us(r.CPU.Min), us(r.CPU.Median), us(r.CPU.Max), r.CPU.Ratio,
			r.PerSecond.Min, r.PerSecond.Median, r.PerSecond.Max, r.PerSecond.Ratio, r.P50.Ratio, r.P99.Ratio)
	}
}

// draw makes horizontal bars of the CPU ratios: the median, with a line from minimum to maximum.
func draw(rows []summary) string {
	const left, width, height = 300, 500, 22
	var b strings.Builder
	most := 1.0
	for _, r := range rows {
		if base := r.CPU.Median / max(r.CPU.Ratio, 1e-9); base > 0 {
			most = max(most, r.CPU.Max/base)
		}
	}
	x := func(ratio float64) float64 { return left + ratio/most*width }
	y, program := 10, ""
	for _, r := range rows {
		if r.Program != program {
			program = r.Program
			y += height
			fmt.Fprintf(&b, "<text x='10' y='%d' font-weight='bold'>%s: CPU time per request, untraced = 1</text>\n", y, program)
			y += 10
		}
		base := r.CPU.Median / max(r.CPU.Ratio, 1e-9)
		fmt.Fprintf(&b, "<text x='%d' y='%d' text-anchor='end'>%s</text>\n", left-8, y+14, title(r.Row))
		fmt.Fprintf(&b, "<rect x='%d' y='%d' width='%.1f' height='16' fill='#4a7ebb'/>\n", left, y+2, x(r.CPU.Ratio)-left)
		fmt.Fprintf(&b, "<path d='M%.1f %d H%.1f' stroke='#222' stroke-width='2'/>\n", x(r.CPU.Min/base), y+10, x(r.CPU.Max/base))
		fmt.Fprintf(&b, "<text x='%.1f' y='%d'>%.2f</text>\n", x(r.CPU.Max/base)+6, y+14, r.CPU.Ratio)
		y += height
	}
	return fmt.Sprintf("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "+
		"font-size='13'>\n<rect width='100%%' height='100%%' fill='white'/>\n%s</svg>\n", left+width+60, y+20, b.String())
}
