// Events prints all events that golang.org/x/exp/trace returns for a trace, one per line, in the
// canonical text that `gotrace events --canonical` must print as well (see CANONICAL.md).
//
//	events FILE
//	events -sort <TEXT      text of a v1 trace in, text out: undoes what hash maps decided
//	events -digest <NAMES   of each file named on standard input: its result and a hash of its text
//
// Exit status 0; 1 if the trace is rejected, after all events before the error; 2 on a usage error.
package main

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"

	"gotrace-bpf/selftests/reference/internal/canonical"
	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/expected"

	"golang.org/x/exp/trace"
)

func main() {
	sort := flag.Bool("sort", false, "sort canonical text from standard input")
	digest := flag.Bool("digest", false, "print results and hashes of the files named on standard input")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: events FILE | events -sort <TEXT | events -digest <NAMES")
	}
	flag.Parse()
	var err error
	switch {
	case *sort && flag.NArg() == 0:
		err = canonical.Sort(os.Stdout, os.Stdin)
	case *digest && flag.NArg() == 0:
		err = digests(os.Stdout, os.Stdin)
	case !*sort && !*digest && flag.NArg() == 1:
		var v expected.Result
		if v, err = write(os.Stdout, flag.Arg(0)); err == nil {
			err = v.Err()
		}
	default:
		flag.Usage()
		os.Exit(2)
	}
	command.Check(err)
}

// write prints the events of one trace.
func write(out io.Writer, path string) (expected.Result, error) {
	w := bufio.NewWriterSize(out, 1<<20)
	var line []byte
	v := expected.OfFile(path, func(ev *trace.Event) {
		line = canonical.Append(line[:0], ev)
		w.Write(line)
	})
	return v, w.Flush()
}

// digests prints "ok HASH" or "refused HASH" for each file, a hash of all its events, and "panic -"
// where the reader panics: the events before a panic are not well-defined.
func digests(out io.Writer, names io.Reader) error {
	w := bufio.NewWriter(out)
	for in := bufio.NewScanner(names); in.Scan(); {
		hash := sha256.New()
		v, err := write(hash, in.Text())
		if err != nil {
			return err
		}
		if v.Kind == expected.Panic {
			fmt.Fprintln(w, "panic -")
		} else {
			fmt.Fprintf(w, "%s %x\n", v.Kind, hash.Sum(nil))
		}
	}
	return w.Flush()
}
