// Mutate derives corrupt traces from valid ones, reproducibly.
//
//	mutate [-seed S] [-first N] [-n COUNT] [-worlds W] -o DIR TRACE...
//
// Mutants N to N+COUNT-1 of the seed are written as DIR/N.trace, and DIR/index gets one line per
// mutant: its name, the base trace and the change, separated by tabs. In a TRACE that is not a v2
// trace only bytes are changed.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/mutation"
)

func main() {
	seed := flag.Uint64("seed", 1, "the seed")
	first := flag.Uint64("first", 0, "number of the first mutant")
	count := flag.Uint64("n", 1, "how many")
	worlds := flag.Int("worlds", 0, "make up so many traces, and half of the mutants of them")
	out := flag.String("o", "", "write into `DIR`")
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr,
			"usage: mutate [-seed S] [-first N] [-n COUNT] [-worlds W] -o DIR TRACE...")
		os.Exit(2)
	}
	command.Check(mutate(*out, *seed, *first, *count, *worlds, flag.Args()))
}

func mutate(out string, seed, first, count uint64, worlds int, paths []string) error {
	var bases []mutation.Base
	for _, path := range paths {
		data := command.Must(os.ReadFile(path))
		bases = append(bases, mutation.Base{Name: filepath.Base(path), Data: data})
	}
	command.Check(os.MkdirAll(out, 0o777))
	index := command.Must(os.Create(filepath.Join(out, "index")))
	defer index.Close()
	w := bufio.NewWriter(index)
	maker := mutation.New(seed, bases, worlds)
	for n := first; n < first+count; n++ {
		data, base, changes := maker.Mutant(n)
		name := fmt.Sprintf("%d.trace", n)
		command.Check(os.WriteFile(filepath.Join(out, name), data, 0o666))
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, base, changes)
	}
	return w.Flush()
}
