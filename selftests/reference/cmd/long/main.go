// Long writes a long trace, with one generation per second, for measurements that need a gigabyte
// over a quarter of an hour, without recording for that time.
//
//	long [-generations N] [-bytes B] -o FILE
//
// Two threads run a hundred goroutines each that pass their P on in turn: one is unblocked, the
// running one blocks, the next starts. B is the size of a generation. The trace is synthetic, so
// its contents have no meaning; Go's reader accepts it.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"math"
	"os"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/wire"
)

const (
	threads    = 2
	goroutines = 100 // per thread
	second     = 1_000_000_000
	batchSize  = 32 << 10
	start      = second
	noThread   = math.MaxUint64
	running    = 2
	waiting    = 4
)

var (
	procStatus, goStatus = typeOf("ProcStatus"), typeOf("GoStatus")
	unblock              = typeOf("GoUnblock")
	block, goStart       = typeOf("GoBlock"), typeOf("GoStart")
)

func typeOf(name string) uint64 { return uint64(wire.SpecNamed(name).Type) }

// A batch is the data of one batch, of thread m.
type batch struct {
	gen, m, time uint64
	data         []byte
}

func (b *batch) event(numbers ...uint64) {
	for _, n := range numbers {
		b.data = binary.AppendUvarint(b.data, n)
	}
}

func (b *batch) flush(w *bufio.Writer) {
	header := []byte{wire.EventBatch}
	for _, n := range []uint64{b.gen, b.m, b.time, uint64(len(b.data))} {
		header = binary.AppendUvarint(header, n)
	}
	w.Write(header)
	w.Write(b.data)
	b.data = b.data[:0]
}

// Tables: the reason and the clocks.
func tables(w *bufio.Writer, gen, time uint64) {
	b := batch{gen: gen, m: noThread, time: time}
	b.event(wire.Strings)
	b.event(wire.String, 1, uint64(len("chan receive")))
	b.data = append(b.data, "chan receive"...)
	b.flush(w)
	b.event(wire.Sync)
	b.event(wire.Frequency, second)
	b.event(wire.ClockSnapshot, 0, time, 1_700_000_000+gen, 0)
	b.flush(w)
}

// A thread passes its P from goroutine to goroutine for a second, and ends in its initial state.
func thread(w *bufio.Writer, gen, m, time uint64, size int) {
	first := m*1000 + 1
	b := batch{gen: gen, m: m, time: time}
	b.event(procStatus, 0, m, 1)
	b.event(goStatus, 0, first, m, running)
	rounds := size / (3 * 6 * goroutines)
	step := uint64(second*9/10) / uint64(3*rounds*goroutines)
	seq := make([]uint64, goroutines)
	now := time
	for i := 1; i <= rounds*goroutines; i++ {
		next := i % goroutines
		g := first + uint64(next)
		b.event(unblock, step, g, seq[next]+1, 0)
		b.event(block, step, 1, 0)
		b.event(goStart, step, g, seq[next]+2)
		seq[next] += 2
		now += 3 * step
		if len(b.data) > batchSize {
			b.flush(w)
			b.time = now
		}
	}
	b.flush(w)
}

func generation(w *bufio.Writer, gen uint64, size int) {
	time := start + (gen-1)*second
	b := batch{gen: gen, m: noThread, time: time}
	for m := uint64(1); m <= threads; m++ {
		for g := m*1000 + 2; g <= m*1000+goroutines; g++ {
			b.event(goStatus, 0, g, 0, waiting)
		}
	}
	b.flush(w)
	for m := uint64(1); m <= threads; m++ {
		thread(w, gen, m, time, size/threads)
	}
	tables(w, gen, time)
}

func main() {
	out := flag.String("o", "", "write `FILE`")
	generations := flag.Int("generations", 1000, "how many")
	size := flag.Int("bytes", 1<<20, "of one, about")
	flag.Parse()
	f := command.Must(os.Create(*out))
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString("go 1.25 trace\x00\x00\x00")
	for gen := 1; gen <= *generations; gen++ {
		generation(w, uint64(gen), *size)
	}
	command.Check(w.Flush())
	command.Check(f.Close())
}
