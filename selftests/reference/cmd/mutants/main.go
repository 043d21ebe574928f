// Mutants applies small changes to C source and reports those that no unit test detects.
//
//	mutants [-u TESTS] [-n N] [-s SEED] [-j JOBS] [-l] [FOLDER|FILE...]
//	mutants [-u TESTS] --only FILE:LINE[:OP] [-j JOBS] [-l]
//
// Called by selftests/mutants/run, which documents the options, in the top folder of the tree. It
// needs build/mutants/: libgotrace.so, the unit tests linked with libplanted.so (empty) and
// libgotrace.so in this order, and cc, which compiles like the build of the library. A mutant is
// one source file compiled into another libplanted.so: its functions precede those of
// libgotrace.so, so no relinking is necessary. The sources are not modified.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"gotrace-bpf/selftests/reference/internal/mutant"
)

// The percentage of mutants that must be caught.
const wanted = 85

// The tests of a folder must detect all mutants except in code that needs a running kernel or
// prints.
var notPlanted = map[string]bool{"lib": true, "gotrace": true, "gotrace-bpf": true, "man": true}

func folders() ([]string, error) {
	var found []string
	err := filepath.WalkDir("userspace", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if notPlanted[filepath.Base(path)] {
			return fs.SkipDir
		}
		sources, err := filepath.Glob(filepath.Join(path, "*.c"))
		if len(sources) > 0 {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

func main() {
	n := flag.Int("n", 200, "how many")
	seed := flag.Uint64("s", 1, "the seed")
	jobs := flag.Int("j", runtime.NumCPU(), "how many at once")
	list := flag.Bool("l", false, "list them and test nothing")
	only := flag.String("only", "", "those of `FILE:LINE[:OP]`")
	units := flag.String("u", "", "run only these unit `TESTS`")
	flag.Parse()

	ok, err := run(*n, *seed, *jobs, *list, *only, strings.Fields(*units), flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(n int, seed uint64, jobs int, list bool, only string, units, paths []string) (bool, error) {
	var line int
	var op string
	if only != "" {
		parts := strings.Split(only, ":")
		paths = parts[:1]
		if len(parts) > 1 {
			number, err := strconv.Atoi(parts[1])
			if err != nil {
				return false, fmt.Errorf("invalid place %q: expected FILE:LINE or FILE:LINE:OP", only)
			}
			line = number
		}
		if len(parts) > 2 {
			op = parts[2]
		}
	} else if len(paths) == 0 {
		var err error
		if paths, err = folders(); err != nil {
			return false, err
		}
	}
	files, err := parse(paths)
	if err != nil {
		return false, err
	}
	b, err := newBench(jobs)
	if err != nil {
		return false, err
	}
	defer b.close()
	if !list {
		if err := b.measure(units); err != nil {
			return false, err
		}
	}

	var picked []*planted
	if only != "" {
		picked = b.each(files, line, op)
	} else {
		picked = b.pick(files, n, seed)
	}
	if len(picked) == 0 {
		return false, fmt.Errorf("nothing to change in %s", strings.Join(paths, " "))
	}
	if list {
		for _, p := range picked {
			fmt.Println(p)
		}
		return true, nil
	}
	accepted, err := readAccepted("selftests/mutants/accepted")
	if err != nil {
		return false, err
	}
	b.test(picked, accepted)
	return b.report(picked), nil
}

func parse(paths []string) ([]*mutant.File, error) {
	headers, err := filepath.Glob("userspace/*/*.h")
	if err != nil {
		return nil, err
	}
	nested, err := filepath.Glob("userspace/*/*/*.h")
	if err != nil {
		return nil, err
	}
	headers = append(headers, nested...)
	var texts []string
	for _, path := range headers {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(src))
	}
	alike := mutant.Members(texts)

	var files []*mutant.File
	for _, path := range paths {
		found := []string{filepath.Clean(path)}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if found, err = filepath.Glob(filepath.Join(path, "*.c")); err != nil {
				return nil, err
			}
		}
		for _, name := range found {
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, mutant.Parse(name, string(src), alike))
		}
	}
	return files, nil
}

func (b *bench) report(picked []*planted) bool {
	caught, survived := map[string]int{}, map[string]int{}
	var order []string
	total := 0
	for _, p := range picked {
		folder := filepath.Dir(p.mutant.File)
		if caught[folder]+survived[folder] == 0 {
			order = append(order, folder)
		}
		if p.caughtBy != "" {
			caught[folder]++
			total++
		} else {
			survived[folder]++
		}
	}
	for _, f := range order {
		fmt.Printf("%s: %d of %d caught\n", f, caught[f], caught[f]+survived[f])
	}
	fmt.Printf("%d mutants, %d caught, %d survived, %d did not compile (%.1f %%)\n", len(picked), total,
		len(picked)-total, b.broken.Load(), float64(100*total)/float64(len(picked)))
	return 100*total >= wanted*len(picked)
}
