// Verdict prints whether golang.org/x/exp/trace accepts each file, one line per file, in their
// order:
//
//	ok EVENTS | refused REASON | panic REASON
//
//	verdict [-deep] FILE...
//	verdict [-deep] <NAMES    one name a line; answers as it reads
//
// With -deep it calls all methods of each event, like a program that prints events.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"gotrace-bpf/selftests/reference/internal/verdict"

	"golang.org/x/exp/trace"
)

func main() {
	deep := flag.Bool("deep", false, "ask each event for all that it can tell")
	flag.Parse()
	debug.SetGCPercent(400) // many short-lived objects
	var fn func(*trace.Event)
	if *deep {
		fn = verdict.Deep
	}
	if flag.NArg() > 0 {
		for _, path := range flag.Args() {
			fmt.Println(verdict.OfFile(path, fn))
		}
		return
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(verdict.OfFile(in.Text(), fn))
	}
}
