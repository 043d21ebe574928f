// Branches compares the stacks of the log entries of target branches with their messages, which name the functions
// main.a and main.b in the order in which they were called.
//
//	branches TRACE [MISSING]
//
// Prints how many log entries there are, how many have another entry's stack, and how many have none. Exit 1 if there
// are no entries, if any has a wrong stack, or if more than MISSING (default 0) have none.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/exp/trace"
)

type counts struct{ logs, wrong, none int }

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: branches TRACE [MISSING]")
		os.Exit(2)
	}
	missing := 0
	if len(os.Args) == 3 {
		n, err := strconv.Atoi(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, "branches:", err)
			os.Exit(2)
		}
		missing = n
	}
	c, err := compare(os.Args[1])
	fmt.Printf("%d log entries, %d with a wrong stack, %d without a stack\n", c.logs, c.wrong, c.none)
	if err != nil {
		fmt.Fprintln(os.Stderr, "branches:", err)
	}
	if err != nil || c.logs == 0 || c.wrong > 0 || c.none > missing {
		os.Exit(1)
	}
}

func compare(file string) (counts, error) {
	var c counts
	f, err := os.Open(file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		return c, err
	}
	for {
		event, err := r.ReadEvent()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if event.Kind() != trace.EventLog || event.Log().Category != "way" {
			continue
		}
		c.logs++
		way := wayOf(event.Stack())
		switch {
		case way == "":
			c.none++
		case way != event.Log().Message:
			if c.wrong++; c.wrong <= 3 {
				fmt.Printf("message %s\nstack   %s\n", event.Log().Message, way)
			}
		}
	}
}

// wayOf spells the functions of a stack, outermost first.
func wayOf(stack trace.Stack) string {
	var way []byte
	for frame := range stack.Frames() {
		switch frame.Func {
		case "main.a":
			way = append(way, 'a')
		case "main.b":
			way = append(way, 'b')
		}
	}
	for i, j := 0, len(way)-1; i < j; i, j = i+1, j-1 {
		way[i], way[j] = way[j], way[i]
	}
	return string(way)
}
