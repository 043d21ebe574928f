// Expected prints whether golang.org/x/exp/trace accepts each file, one line per file, in their
// order:
//
//	ok EVENTS | refused REASON | panic REASON
//
//	expected [-deep] FILE...
//	expected [-deep] <NAMES    one name a line; answers as it reads
//
// With -deep it calls all methods of each event, like a program that prints events.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"gotrace-bpf/selftests/reference/internal/expected"

	"golang.org/x/exp/trace"
)

func main() {
	deep := flag.Bool("deep", false, "call all methods of each event")
	flag.Parse()
	debug.SetGCPercent(400) // many short-lived objects
	var fn func(*trace.Event)
	if *deep {
		fn = expected.Deep
	}
	if flag.NArg() > 0 {
		for _, path := range flag.Args() {
			fmt.Println(expected.OfFile(path, fn))
		}
		return
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(expected.OfFile(in.Text(), fn))
	}
}
