// Branches compares the stacks of the log entries of target branches with their messages, which name the functions
// main.a and main.b in the order in which they were called.
//
//	branches TRACE [STACKS TEXTS]
//
// Prints how many log entries there are, how many have another entry's stack, and how many have no stack or no text.
// Exit 1 if there are no entries, if any has a wrong stack, or if more than STACKS have no stack or more than TEXTS no
// text (both 0 by default).
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/exp/trace"

	"gotrace-bpf/selftests/reference/internal/command"
)

// What gotrace-bpf writes for a text that it could not read, or that was lost
const noText = "(text not recorded)"

type counts struct{ logs, wrong, noStack, noText int }

func main() {
	var permitted [2]int
	command.Usage(len(os.Args) == 2 || len(os.Args) == 4, "branches TRACE [STACKS TEXTS]")
	for i, arg := range os.Args[2:] {
		permitted[i] = command.Must(strconv.Atoi(arg))
	}
	c, err := compare(os.Args[1])
	fmt.Printf("%d log entries, %d with a wrong stack, %d without a stack, %d without a text\n", c.logs, c.wrong,
		c.noStack, c.noText)
	command.End(c.logs > 0 && c.wrong == 0 && c.noStack <= permitted[0] && c.noText <= permitted[1], err)
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
			c.noStack++
		case event.Log().Message == noText:
			c.noText++
		case way != event.Log().Message:
			if c.wrong++; c.wrong <= 3 {
				fmt.Printf("message %s\nstack   %s\n", event.Log().Message, way)
			}
		}
	}
}

// wayOf returns the functions of a stack, outermost first.
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
