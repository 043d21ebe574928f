package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gotrace-bpf/selftests/reference/internal/mutant"
)

const (
	top          = "build/mutants"
	instrumented = top + "/instrumented" // the folder of another libgotrace.so, which records calls
)

// planted is a mutant that compiles, into an object that differs from the original.
type planted struct {
	mutant   mutant.Mutant
	file     *mutant.File
	object   []byte
	caughtBy string // a unit test, if any
}

func (p *planted) String() string {
	before, after := p.file.Change(&p.mutant)
	return fmt.Sprintf("%s:%d: %s -> %s [%s]", p.mutant.File, p.mutant.Line, before, after, p.mutant.Op)
}

// bench is where mutants are compiled and tested.
type bench struct {
	jobs    int
	folder  string
	pids    []string // prefix of a command: a private PID namespace, if permitted
	units   []*unit
	symbols map[symbol][]uint64
	broken  atomic.Int64 // mutants that did not compile

	mu        sync.Mutex
	originals map[string][]byte
	free      []int // numbers of folders
}

func newBench(jobs int) (*bench, error) {
	if jobs < 1 {
		return nil, fmt.Errorf("invalid number of jobs %d", jobs)
	}
	b := &bench{jobs: jobs, originals: map[string][]byte{}}
	var err error
	if b.folder, err = os.MkdirTemp(top, "work-"); err != nil {
		return nil, err
	}
	if b.folder, err = filepath.Abs(b.folder); err != nil {
		return nil, err
	}
	for i := range jobs {
		b.free = append(b.free, i)
		if err := os.MkdirAll(filepath.Join(b.folder, strconv.Itoa(i), "home"), 0o755); err != nil {
			return nil, err
		}
	}
	// A mutant with a wrong process ID must not kill an unrelated process.
	pids := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if exec.Command(pids[0], append(pids[1:], "true")...).Run() == nil {
		b.pids = pids
	}
	return b, nil
}

func (b *bench) close() {
	os.RemoveAll(b.folder)
}

// take returns an unused folder, and give returns it to the pool.
func (b *bench) take() (int, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.free[len(b.free)-1]
	b.free = b.free[:len(b.free)-1]
	return n, filepath.Join(b.folder, strconv.Itoa(n))
}

func (b *bench) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, n)
}

// parallel calls work for 0 to n-1, with as many calls in parallel as there are jobs.
func (b *bench) parallel(n int, work func(i int, folder string)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(b.jobs, n) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			number, folder := b.take()
			defer b.give(number)
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i, folder)
			}
		}()
	}
	wait.Wait()
}

// compile returns the object of a source text, which replaces the file that it names.
func (b *bench) compile(folder, path, src string, env ...string) ([]byte, error) {
	from, to := filepath.Join(folder, filepath.Base(path)), filepath.Join(folder, "planted.o")
	if err := os.WriteFile(from, []byte("#line 1 \""+path+"\"\n"+src), 0o644); err != nil {
		return nil, err
	}
	cmd := exec.Command(top+"/cc", "-w", "-MMD", "-MF", "/dev/null", "-iquote", filepath.Dir(path), "-c", from, "-o", to)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(to)
}

func (b *bench) original(folder string, f *mutant.File) []byte {
	b.mu.Lock()
	object := b.originals[f.Path]
	b.mu.Unlock()
	if object == nil {
		var err error
		if object, err = b.compile(folder, f.Path, f.Apply(&mutant.Mutant{})); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		b.mu.Lock()
		b.originals[f.Path] = object
		b.mu.Unlock()
	}
	return object
}

// fatalUnlessStatus ends the program unless the error is a command's non-zero exit status.
func fatalUnlessStatus(err error) {
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}

// viable compiles the mutant, and returns nil if it is invalid C or compiles to the same object.
func (b *bench) viable(folder string, f *mutant.File, m *mutant.Mutant) *planted {
	object, err := b.compile(folder, f.Path, f.Apply(m), "CCACHE_DISABLE=1")
	if err != nil {
		fatalUnlessStatus(err)
		b.broken.Add(1)
		return nil
	}
	if bytes.Equal(object, b.original(folder, f)) {
		return nil
	}
	return &planted{mutant: *m, file: f, object: object}
}

// pick selects n functions, in each folder in proportion to its lines, and of each the first viable
// mutant.
func (b *bench) pick(files []*mutant.File, n int, seed uint64) []*planted {
	candidates, lines := mutant.Candidates(files, seed)
	shares := mutant.Shares(lines, n)
	var names []string
	for folder := range shares {
		names = append(names, folder)
	}
	sort.Strings(names)
	var picked []*planted
	for _, folder := range names {
		list, need := candidates[folder], shares[folder]
		for need > 0 && len(list) > 0 {
			some := list[:min(need, len(list))]
			list = list[len(some):]
			found := make([]*planted, len(some))
			b.parallel(len(some), func(i int, folder string) {
				c := some[i]
				for k := range c.Mutants {
					if found[i] = b.viable(folder, c.File, &c.Mutants[k]); found[i] != nil {
						return
					}
				}
			})
			for _, p := range found {
				if p != nil {
					picked = append(picked, p)
					need--
				}
			}
		}
	}
	return picked
}

// each returns all viable mutants at a place.
func (b *bench) each(files []*mutant.File, line int, op string) []*planted {
	var picked []*planted
	for _, f := range files {
		all := f.All(line, op)
		found := make([]*planted, len(all))
		b.parallel(len(all), func(i int, folder string) {
			found[i] = b.viable(folder, f, &all[i])
		})
		for _, p := range found {
			if p != nil {
				picked = append(picked, p)
			}
		}
	}
	return picked
}

// test runs the unit tests on each mutant, and prints survivors as they are found.
func (b *bench) test(picked []*planted, accepted map[string]string) {
	var mu sync.Mutex
	b.parallel(len(picked), func(i int, folder string) {
		p := picked[i]
		if err := b.plant(folder, p); err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		units := b.reaching(p.mutant.File, p.mutant.Function)
		for _, u := range units {
			if b.fails(folder, u) {
				p.caughtBy = u.name
				break
			}
		}
		if p.caughtBy != "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(p)
		before, after := p.file.Change(&p.mutant)
		if reason := accepted[fmt.Sprintf("%s: %s -> %s", p.mutant.File, before, after)]; reason != "" {
			fmt.Println("\taccepted:", reason)
		} else if len(units) == 0 {
			fmt.Println("\tno unit test calls", p.mutant.Function)
		}
	})
}

// plant builds libplanted.so from the mutant.
func (b *bench) plant(folder string, p *planted) error {
	object := filepath.Join(folder, "planted.o")
	if err := os.WriteFile(object, p.object, 0o644); err != nil {
		return err
	}
	link := []string{"-shared", "-Wl,-soname,libplanted.so", "-Wl,-z,lazy", object,
		"-o", filepath.Join(folder, "libplanted.so")}
	if p.mutant.File == copied {
		link = append(link, copiedFrom)
	}
	out, err := exec.Command(top+"/cc", link...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// environment fills uninitialized and freed memory with a byte pattern.
func (b *bench) environment(more ...string) []string {
	return append(append(os.Environ(), "MALLOC_PERTURB_=165"), more...)
}

// fails reports whether the unit test fails on the mutant in the folder. One that takes five times the CPU
// time that it takes with the instrumented library counts as hanging; time alone only if it is very long,
// since the machine may be busier than it was.
func (b *bench) fails(folder string, u *unit) bool {
	command := append([]string{"prlimit", fmt.Sprintf("--cpu=%d", int(3+5*u.CPU)), "--as=8000000000"},
		b.pids...)
	command = append(command, u.program)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = b.environment("LD_LIBRARY_PATH="+folder, "HOME="+filepath.Join(folder, "home"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	limit := time.AfterFunc(time.Duration((120+20*u.Wall)*float64(time.Second)), func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	defer limit.Stop()
	err := cmd.Wait()
	if err != nil {
		fatalUnlessStatus(err)
	}
	return err != nil
}
