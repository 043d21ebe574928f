// Perturb makes variants of a raw file (`record --save-input`) with other scheduler events: some are
// missing, some have the time of the event before them on their thread, and neighbours have exchanged
// their times. So it finds interleavings that a kernel produces rarely, and minimizes files that show
// a difference.
//
//	perturb [-v] [-seed N] [-rate R] IN OUT
//	perturb [-v] [-seed N] [-rate R] -while COMMAND IN OUT
//
// A variant depends on its seed; a share R of the kernel events is changed. With -while, OUT has as few
// of these changes as possible, so that `COMMAND FILE` still exits with 1; at a rate of 0, as few kernel
// events as possible. -v prints the changes. Exit status 1: an error, or the command never exits with 1.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"slices"
)

// The layout of raw files and records: docs/record-format.md.
const (
	head        = 32
	records     = 1  // a chunk of records
	firstKernel = 56 // enum gt_kind
	stack       = 50
	text        = 51
	waking      = 58
	thread      = 61
	kinds       = 64
)

// payloads has the size of each kind's payload plus 1; include/gotrace/kinds.h lists them.
var payloads = func() (size [kinds]int) {
	for bytes, list := range map[int][]int{
		0:  {5, 10, 11, 12, 13, 14, 15, 31, 32, 33, 35, 36, 37, 39, 40, 56, 59, 62, 63},
		8:  {1, 2, 3, 4, 8, 17, 20, 21, 22, 30, 34, 41, 27, 42, 45, 25, 51, 58, 60},
		16: {24, 16, 43, 26, 48, 50, 54, 55},
		24: {6, 7, 9, 38, 44, 46, 47, 49, 52, 18, 57, 61},
		32: {19, 53},
	} {
		for _, kind := range list {
			size[kind] = bytes + 1
		}
	}
	return size
}()

var le = binary.LittleEndian

type record []byte

func (r record) time() uint64     { return le.Uint64(r) }
func (r record) setTime(t uint64) { le.PutUint64(r, t) }
func (r record) tid() uint32      { return le.Uint32(r[8:]) }
func (r record) kind() int        { return int(le.Uint16(r[12:])) }
func (r record) seq() uint32      { return le.Uint32(r[28:]) }
func (r record) isKernel() bool   { return r.kind() >= firstKernel && r.kind() < kinds }

// size of the record at the start of b; 0: it is invalid.
func size(b []byte) int {
	if len(b) < head {
		return 0
	}
	kind := record(b).kind()
	if kind >= kinds || payloads[kind] == 0 {
		return 0
	}
	n := head + payloads[kind] - 1
	if n > len(b) {
		return 0
	}
	switch kind {
	case 48, stack: // or a sample: depth PCs
		n += 8 * int(le.Uint32(b[head:]))
	case text:
		n += (int(le.Uint32(b[head:])) + 7) &^ 7
	}
	return min(n, len(b))
}

type chunk struct {
	kind    uint32
	data    []byte // not of records
	ring    uint64
	records []record
}

type file struct {
	header []byte
	chunks []chunk
}

func parse(b []byte) (*file, error) {
	if len(b) < 16 || string(b[:8]) != "GOTRRAW\x00" || int(le.Uint32(b[12:])) > len(b) {
		return nil, errors.New("not a raw file")
	}
	f := &file{header: b[:le.Uint32(b[12:])]}
	for b = b[len(f.header):]; len(b) >= 8; {
		n := int(le.Uint32(b[4:]))
		if n > len(b)-8 {
			break
		}
		c := chunk{kind: le.Uint32(b), data: b[8 : 8+n]}
		if c.kind == records {
			c.ring = le.Uint64(c.data)
			for rest := c.data[8:]; len(rest) > 0; {
				n := size(rest)
				if n == 0 {
					return nil, errors.New("an invalid record")
				}
				c.records = append(c.records, slices.Clone(rest[:n]))
				rest = rest[n:]
			}
		}
		f.chunks = append(f.chunks, c)
		b = b[min(len(b), 8+(n+7)&^7):]
	}
	return f, nil
}

// kernel returns the places of all kernel events, in the order of the file.
func (f *file) kernel() (all [][2]int) {
	for i, c := range f.chunks {
		for j, r := range c.records {
			if r.isKernel() {
				all = append(all, [2]int{i, j})
			}
		}
	}
	return all
}

// bytes returns the file without some records. The numbers of the others in their rings are adapted:
// no record is missing.
func (f *file) bytes(without map[[2]int]bool) []byte {
	gone := map[uint64][]uint32{}
	for at := range without {
		c := f.chunks[at[0]]
		gone[c.ring] = append(gone[c.ring], c.records[at[1]].seq())
	}
	for _, seqs := range gone {
		slices.Sort(seqs)
	}
	out := slices.Clone(f.header)
	for i, c := range f.chunks {
		data := c.data
		if c.kind == records {
			data = le.AppendUint64(nil, c.ring)
			for j, r := range c.records {
				if without[[2]int{i, j}] {
					continue
				}
				before, _ := slices.BinarySearch(gone[c.ring], r.seq())
				at := len(data)
				data = append(data, r...)
				le.PutUint32(data[at+28:], r.seq()-uint32(before))
			}
		}
		out = le.AppendUint32(out, c.kind)
		out = le.AppendUint32(out, uint32(len(data)))
		out = append(out, data...)
		out = append(out, make([]byte, -len(data)&7)...)
	}
	return out
}

// change is one of a kernel event: it is left out, or gets the time of the one before it on its thread, or
// both exchange their times, if another CPU may have reported one; or the goroutines stop there, and later
// events are the kernel's.
type change struct {
	at, before [2]int
	how        int
}

const (
	leaveOut = iota
	equalize
	exchange
	stop
)

// changes chooses a share of the kernel events.
func (f *file) changes(rng *rand.Rand, rate float64) (all []change) {
	kernel := f.kernel()
	if len(kernel) > 0 && rng.Intn(4) == 0 {
		all = append(all, change{at: kernel[len(kernel)/2+rng.Intn(len(kernel)/2+1)-1], how: stop})
	}
	last, seen := map[uint32][2]int{}, map[uint32]int{} // by thread
	for _, at := range kernel {
		r := f.at(at)
		if r.kind() == thread { // its state when the recording began, for example
			continue
		}
		before := last[r.tid()]
		last[r.tid()] = at
		seen[r.tid()]++
		// The first one shows the state before it. Only switches are known to be missing at times.
		if seen[r.tid()] < 3 || r.kind() > waking || rng.Float64() >= rate {
			continue
		}
		c := change{at, before, rng.Intn(3)}
		if c.how == exchange && r.kind() != waking && f.at(before).kind() != waking {
			c.how = equalize // the thread's own CPU reports both
		}
		all = append(all, c)
	}
	return all
}

// without adds the hits after a time.
func (f *file) without(all map[[2]int]bool, time uint64) {
	for i, c := range f.chunks {
		for j, r := range c.records {
			if !r.isKernel() && r.kind() != stack && r.kind() != text && r.time() > time {
				all[[2]int{i, j}] = true
			}
		}
	}
}

func (f *file) at(at [2]int) record { return f.chunks[at[0]].records[at[1]] }

// with returns the file with these changes.
func (f *file) with(all []change) []byte {
	without, was := map[[2]int]bool{}, map[[2]int]uint64{}
	for _, c := range all {
		if c.how == stop {
			f.without(without, f.at(c.at).time())
		}
	}
	set := func(at [2]int, t uint64) {
		if _, ok := was[at]; !ok {
			was[at] = f.at(at).time()
		}
		f.at(at).setTime(t)
	}
	for _, c := range all {
		if c.how == leaveOut {
			without[c.at] = true
		}
		if c.how != equalize && c.how != exchange {
			continue
		}
		t := f.at(c.at).time()
		set(c.at, f.at(c.before).time())
		if c.how == exchange {
			set(c.before, t)
		}
	}
	out := f.bytes(without)
	for at, t := range was {
		f.at(at).setTime(t)
	}
	return out
}

// fails reports whether the command shows the difference.
func fails(command, name string, data []byte) (bool, error) {
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return false, err
	}
	cmd := exec.Command("sh", "-c", command+` "$0"`, name)
	err := cmd.Run()
	var status *exec.ExitError
	if errors.As(err, &status) {
		return status.ExitCode() == 1, nil
	}
	return false, err
}

// minimize returns as few of the changes as it finds with which the command exits with 1.
func (f *file) minimize(all []change, command, out string) ([]change, error) {
	if still, err := fails(command, out, f.with(all)); err != nil || !still {
		return nil, errors.Join(errors.New("the command does not exit with 1"), err)
	}
	for size := (len(all) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(all); {
			fewer := slices.Concat(all[:at], all[min(len(all), at+size):])
			still, err := fails(command, out, f.with(fewer))
			if err != nil {
				return nil, err
			}
			if still {
				all = fewer
			} else {
				at += size
			}
		}
	}
	return all, nil
}

// remove leaves out as many kernel events as possible: a change keeps what minimize() may not leave out.
func (f *file) remove(command, out string) ([]change, error) {
	var kept, gone []change
	if still, err := fails(command, out, f.with(nil)); err != nil || !still {
		return nil, errors.Join(errors.New("the command does not exit with 1"), err)
	}
	for _, at := range f.kernel() {
		kept = append(kept, change{at: at, how: leaveOut})
	}
	for size := (len(kept) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(kept); {
			end := min(len(kept), at+size)
			more := slices.Concat(gone, kept[at:end])
			still, err := fails(command, out, f.with(more))
			if err != nil {
				return nil, err
			}
			if still {
				gone, kept = more, slices.Delete(kept, at, end)
			} else {
				at += size
			}
		}
	}
	return gone, nil
}

func run(in, out, command string, seed int64, rate float64, verbose bool) error {
	data, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	f, err := parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	var all []change
	switch {
	case command == "":
		all = f.changes(rand.New(rand.NewSource(seed)), rate)
	case rate == 0:
		all, err = f.remove(command, out)
	default:
		all, err = f.minimize(f.changes(rand.New(rand.NewSource(seed)), rate), command, out)
	}
	if err != nil {
		return err
	}
	for _, c := range all {
		if verbose {
			r := f.at(c.at)
			fmt.Printf("%s: time %d, thread %d, kind %d\n", []string{"left out", "equalized", "exchanged", "stop"}[c.how], r.time(), r.tid(), r.kind())
		}
	}
	return os.WriteFile(out, f.with(all), 0o600)
}

func main() {
	seed := flag.Int64("seed", 1, "the `number` of the variant")
	rate := flag.Float64("rate", 0.01, "the `share` of the kernel events that are changed")
	verbose := flag.Bool("v", false, "print the changes")
	command := flag.String("while", "", "the `command` that shows a difference")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: perturb [-seed N] [-rate R] [-while COMMAND] IN OUT")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), *command, *seed, *rate, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "perturb:", err)
		os.Exit(1)
	}
}
