package main

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// library is the one with which tests are measured.
const library = instrumented + "/libgotrace.so"

// The code of this file is not called in the library but copied, by a function of another file that must
// be in the same library.
const (
	copied     = "userspace/inline/trampoline_x86.c"
	copiedFrom = top + "/obj/userspace/inline/stub_x86.o"
	copiedBy   = "trampoline__code"
)

// unit is a unit test: its cost, and the functions of the library that it calls.
type unit struct {
	name, program string  // name: its path below the folder of unit tests
	CPU, Wall     float64 // seconds, with the instrumented library
	Failed        bool    // without any mutant
	reached       []byte  // by offset of a function in libgotrace.so: see selftests/mutants/reach.c
}

// symbol is a function of the library. A static one has the name of its source file, without the folder.
type symbol struct {
	file, name string
}

func readSymbols(path string) (map[symbol][]uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	found := map[symbol][]uint64{}
	var file string
	for _, s := range list {
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FILE:
			file = s.Name
		case elf.STT_FUNC:
			key := symbol{"", s.Name}
			if elf.ST_BIND(s.Info) == elf.STB_LOCAL {
				key.file = file
			}
			found[key] = append(found[key], s.Value)
		}
	}
	return found, nil
}

// measure runs each unit test, or only those that are named, without a mutant, unless that was done since
// its build.
func (b *bench) measure(names []string) error {
	var err error
	if b.symbols, err = readSymbols(library); err != nil {
		return err
	}
	tests := filepath.Join(top, "selftests/unit")
	var programs []string
	err = filepath.WalkDir(tests, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), "test_") {
			programs = append(programs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, b.jobs)
	for _, p := range programs {
		u := &unit{name: strings.TrimPrefix(p, tests+"/"), program: p}
		if len(names) > 0 && !slices.Contains(names, u.name) {
			continue
		}
		b.units = append(b.units, u)
		wait.Add(1)
		slots <- struct{}{}
		go func() {
			defer wait.Done()
			b.measureOne(u)
			<-slots
		}()
	}
	wait.Wait()
	usable := b.units[:0]
	for _, u := range b.units {
		if u.Failed {
			fmt.Printf("# %s fails without a mutant: it is not used\n", u.name)
		} else {
			usable = append(usable, u)
		}
	}
	b.units = usable
	if len(b.units) == 0 {
		return fmt.Errorf("no unit test in %s/selftests/unit passes", top)
	}
	return nil
}

func (b *bench) measureOne(u *unit) {
	reach := filepath.Join(top, "reach", u.name)
	cost := reach + ".json"
	if newer(cost, library) && newer(cost, u.program) {
		text, err := os.ReadFile(cost)
		if err == nil && json.Unmarshal(text, u) == nil {
			u.reached, err = os.ReadFile(reach)
		}
		if err == nil {
			return
		}
	}
	os.Remove(reach)
	os.MkdirAll(filepath.Dir(reach), 0o755)
	start := time.Now()
	cmd := exec.Command(u.program)
	cmd.Env = b.environment("MUTANTS_REACH="+reach, "LD_LIBRARY_PATH="+instrumented)
	u.Failed = cmd.Run() != nil
	u.Wall = time.Since(start).Seconds()
	u.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	u.reached, _ = os.ReadFile(reach)
	if text, err := json.Marshal(u); err == nil && !u.Failed {
		os.WriteFile(cost, text, 0o644)
	}
}

func newer(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && x.ModTime().After(y.ModTime())
}

// reaching returns the unit tests that call the function, those named after its file first, then by cost.
func (b *bench) reaching(file, function string) []*unit {
	at := append(b.symbols[symbol{filepath.Base(file), function}], b.symbols[symbol{"", function}]...)
	if file == copied {
		at = b.symbols[symbol{"", copiedBy}]
	}
	var found []*unit
	for _, u := range b.units {
		for _, offset := range at {
			if offset < uint64(len(u.reached)) && u.reached[offset] != 0 {
				found = append(found, u)
				break
			}
		}
	}
	stem := strings.TrimSuffix(filepath.Base(file), ".c")
	named := func(u *unit) bool {
		return strings.HasPrefix(filepath.Base(u.name), "test_"+strings.Split(stem, "_")[0])
	}
	sort.SliceStable(found, func(i, j int) bool {
		if named(found[i]) != named(found[j]) {
			return named(found[i])
		}
		return found[i].CPU < found[j].CPU
	})
	return found
}
