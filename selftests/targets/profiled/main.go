// Profiled spends CPU time in many functions of the standard library, in an order that is random and
// the same in each run, and writes its own CPU profile. It allocates little memory: the garbage
// collector would preempt it with signals, which displace samples of runtime/pprof.
//
//	profiled -profile FILE [-cpu DURATION] [-works N]
//
// It ends when it has used that CPU time. With -works it does only the first N kinds of work. It
// speaks the handshake of package protocol; the done line is {"cpu_ns":N}.
package main

import (
	"bytes"
	"compress/flate"
	"container/heap"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"hash/adler32"
	"hash/crc32"
	"hash/fnv"
	"io"
	"math"
	"math/rand"
	"os"
	"regexp"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

func main() {
	file := flag.String("profile", "", "write the CPU profile to `FILE`")
	cpu := flag.Duration("cpu", 5*time.Second, "CPU time of the process")
	n := flag.Int("works", len(works), "do the first `N` kinds of work")
	flag.Parse()
	protocol.Ready()
	out := protocol.Must(os.Create(*file))
	protocol.Check(pprof.StartCPUProfile(out))
	end := clocks.Process() + int64(*cpu)
	works = works[:*n]
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go work(rand.New(rand.NewSource(int64(i))), end, &group)
	}
	group.Wait()
	pprof.StopCPUProfile()
	protocol.Check(out.Close())
	protocol.Done(map[string]int64{"cpu_ns": clocks.Process()})
}

// state is what a goroutine works with, so that it need not allocate.
type state struct {
	text, buffer   []byte
	numbers        []int
	keys           map[int]int
	writer         *flate.Writer
	packed         bytes.Reader
	reader         io.ReadCloser
	pattern        *regexp.Regexp
	document       []byte
	packedDocument []byte
}

func newState() *state {
	text := []byte(strings.Repeat("what the quick brown fox said to the lazy dog; ", 60))
	writer := protocol.Must(flate.NewWriter(io.Discard, 5))
	document := protocol.Must(json.Marshal(map[string]any{"name": "gopher", "numbers": []int{3, 1, 4, 1, 5, 9, 2, 6}, "text": string(text[:200])}))
	var packed bytes.Buffer
	w := protocol.Must(flate.NewWriter(&packed, 9))
	w.Write(text)
	protocol.Check(w.Close())
	return &state{
		text: text, buffer: make([]byte, 0, 8192), numbers: make([]int, 400), keys: map[int]int{}, writer: writer,
		reader: flate.NewReader(&bytes.Reader{}), pattern: regexp.MustCompile(`(qu|br)[a-z]+ (fox|dog)x`),
		document: document, packedDocument: packed.Bytes(),
	}
}

// Each takes a few hundred microseconds at most, so that one sample says little about the next.
var works = []func(*state, *rand.Rand){
	sortNumbers, compress, unpack, checksums, digests, validate, match, numbers, keys, runes, search, encode, waves, queue,
}

func work(random *rand.Rand, end int64, group *sync.WaitGroup) {
	defer group.Done()
	s := newState()
	for clocks.Process() < end {
		works[random.Intn(len(works))](s, random)
	}
}

func sortNumbers(s *state, random *rand.Rand) {
	for i := range s.numbers {
		s.numbers[i] = random.Int()
	}
	sort.Sort(sort.Reverse(sort.IntSlice(s.numbers)))
}

func compress(s *state, _ *rand.Rand) {
	s.writer.Reset(io.Discard)
	s.writer.Write(s.text)
	s.writer.Close()
}

func unpack(s *state, _ *rand.Rand) {
	s.packed.Reset(s.packedDocument)
	protocol.Check(s.reader.(flate.Resetter).Reset(&s.packed, nil))
	for i := 0; i < 100; i++ {
		if _, err := s.reader.Read(s.buffer[:1000]); err != nil {
			break
		}
	}
}

func checksums(s *state, _ *rand.Rand) {
	for i := 0; i < 10; i++ {
		crc32.ChecksumIEEE(s.text)
		adler32.Checksum(s.text)
	}
	h := fnv.New64a()
	h.Write(s.text)
}

func digests(s *state, _ *rand.Rand) {
	for i := 0; i < 4; i++ {
		sha1.Sum(s.text)
		md5.Sum(s.text)
		sha512.Sum512(s.text)
	}
}

func validate(s *state, _ *rand.Rand) {
	for i := 0; i < 20; i++ {
		json.Valid(s.document)
	}
}

func match(s *state, _ *rand.Rand) {
	s.pattern.Match(s.text[:500])
}

func numbers(s *state, random *rand.Rand) {
	for i := 0; i < 100; i++ {
		s.buffer = strconv.AppendFloat(s.buffer[:0], random.Float64(), 'e', 17, 64)
		s.buffer = strconv.AppendInt(s.buffer[:0], random.Int63(), 10)
		strconv.ParseFloat("1.2345678901234567e-30", 64)
	}
}

func keys(s *state, random *rand.Rand) {
	for i := 0; i < 500; i++ {
		s.keys[random.Intn(1000)]++
		delete(s.keys, random.Intn(1000))
	}
}

func runes(s *state, _ *rand.Rand) {
	n := 0
	for _, b := range s.text {
		r := rune(b) << 2
		n += utf8.EncodeRune(s.buffer[:4], r)
		if unicode.IsUpper(r) || unicode.In(r, unicode.Greek) {
			n++
		}
	}
}

func search(s *state, _ *rand.Rand) {
	for i := 0; i < 10; i++ {
		bytes.Count(s.text, []byte("o"))
		bytes.Index(s.text, []byte("lazy cat"))
		bytes.EqualFold(s.text, s.text)
	}
}

func encode(s *state, _ *rand.Rand) {
	for i := 0; i < 5; i++ {
		base64.StdEncoding.Encode(s.buffer[:8192], s.text)
		hex.Encode(s.buffer[:8192], s.text)
	}
}

func waves(_ *state, random *rand.Rand) {
	x := random.Float64()
	for i := 0; i < 500; i++ {
		x += math.Sin(x) + math.Exp(-x) + math.Log(x+2) + math.Pow(x, 0.3)
	}
}

func queue(s *state, random *rand.Rand) {
	h := sorted(s.numbers)
	for i := 0; i < 200; i++ {
		h[random.Intn(len(h))] = random.Int()
		heap.Fix(h, random.Intn(len(h)))
	}
}

type sorted []int

func (h sorted) Len() int           { return len(h) }
func (h sorted) Less(i, j int) bool { return h[i] < h[j] }
func (h sorted) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h sorted) Push(any)           {}
func (h sorted) Pop() any           { return nil }
