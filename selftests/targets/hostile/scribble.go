package main

// This file overwrites what a recorder with inline probes has mapped into the program: include/gotrace/inline.h.

import (
	"math/rand"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	seenBytes, rings, ringHead = 65536 * 8, 64, 4096
	slotBytes, slotWords       = 64, 8
	tailWord                   = 8 // of a ring's head
	further                    = 1 << 31
	codeBytes, headerBytes     = 16384, 2048 // of the area of code, and of struct gt_inline

	partWords = 256 << 10
	burst     = 5000 // steps of one kind
	burstGap  = time.Millisecond
)

type area struct {
	words []uint64
	part  []uint64 // that is overwritten at random: the machine has no memory for all of it each time
	slots uint64   // of a ring
}

// mappings returns the addresses of the mappings with these permissions and this name.
func mappings(permissions, name string) (found [][2]uintptr) {
	text, _ := os.ReadFile("/proc/self/maps")
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[1] != permissions || strings.Join(fields[5:], " ") != name {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		start, _ := strconv.ParseUint(from, 16, 64)
		end, _ := strconv.ParseUint(to, 16, 64)
		found = append(found, [2]uintptr{uintptr(start), uintptr(end)})
	}
	return found
}

func wordsOf(m [2]uintptr) []uint64 {
	at := m[0]
	return unsafe.Slice((*uint64)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), (m[1]-m[0])/8)
}

func findRings() (ret area, found bool) {
	for _, m := range mappings("rw-s", "/dev/zero (deleted)") {
		ret.words = wordsOf(m)
		ret.slots = ((uint64(m[1]-m[0])-seenBytes)/rings - ringHead) / slotBytes
		found = true
	}
	return ret, found
}

func (a *area) ring(n uint64) []uint64 {
	size := (ringHead + a.slots*slotBytes) / 8
	return a.words[seenBytes/8+n*size:][:size]
}

func (a *area) slot(ring []uint64, n uint64) []uint64 {
	return ring[ringHead/8+n%a.slots*slotWords:][:slotWords]
}

var kinds = []func(*area, *rand.Rand){
	func(a *area, r *rand.Rand) { a.part[r.Intn(len(a.part))] = r.Uint64() },
	func(a *area, r *rand.Rand) { a.part[r.Intn(len(a.part))] = r.Uint64() & 0xff },
	func(a *area, r *rand.Rand) { a.part[r.Intn(len(a.part))] ^= 1 << r.Intn(64) },
	func(a *area, r *rand.Rand) { a.part[r.Intn(len(a.part))] = a.part[r.Intn(len(a.part))] },
	forgeHead, changePayload, forgeRecord, repeatRecord, forgePlaces, freePages,
}

// forgeHead sets a head, a tail or a count of a ring to a number near the true one, or to any.
func forgeHead(a *area, r *rand.Rand) {
	ring := a.ring(r.Uint64() % rings)
	at := []int{0, tailWord, 2 * tailWord, 3 * tailWord}[r.Intn(4)]
	switch r.Intn(400) { // most attachments are to last longer
	case 0:
		ring[at] = r.Uint64()
	case 1:
		ring[at] += r.Uint64() % (2 * a.slots)
	case 2:
		ring[at] -= r.Uint64() % 100
	}
}

// changePayload changes a byte of a record that is about to be read.
func changePayload(a *area, r *rand.Rand) {
	ring := a.ring(r.Uint64() % rings)
	head, tail := ring[0], ring[tailWord]
	if n := head - tail; n > 0 && n < a.slots {
		slot := a.slot(ring, tail+r.Uint64()%n)
		slot[1+r.Intn(slotWords-1)] ^= r.Uint64() & 0xff << (8 * r.Intn(8))
	}
}

func reserve(ring []uint64, limit uint64) (uint64, bool) {
	if ring[0]-ring[tailWord] > limit {
		return 0, false
	}
	return atomic.AddUint64(&ring[0], 1) - 1, true
}

func commit(slot []uint64, n uint64, flags uint32) {
	atomic.StoreUint64(&slot[0], uint64(uint32(n+1)&^further|flags))
}

// forgeRecord writes a record of any kind, thread, time and payload.
func forgeRecord(a *area, r *rand.Rand) {
	ring := a.ring(r.Uint64() % rings)
	n, ok := reserve(ring, a.slots/2)
	if !ok {
		return
	}
	slot := a.slot(ring, n)
	for i := 1; i < slotWords; i++ {
		if r.Intn(2) == 0 {
			slot[i] = r.Uint64() >> r.Intn(64)
		}
	}
	slot[2] = uint64(r.Intn(40))<<32 | uint64(r.Intn(4)>>1*os.Getpid()) | uint64(r.Intn(2))<<48
	commit(slot, n, uint32(r.Intn(8)/7)*further)
}

// repeatRecord writes a true record again, as one of another thread.
func repeatRecord(a *area, r *rand.Rand) {
	from, to := a.ring(r.Uint64()%rings), a.ring(r.Uint64()%rings)
	if from[0] == 0 {
		return
	}
	n, ok := reserve(to, a.slots/2)
	if !ok {
		return
	}
	slot := a.slot(to, n)
	copy(slot[1:], a.slot(from, from[0]-1-r.Uint64()%16)[1:])
	slot[2] = slot[2]&^0xffffffff | uint64(r.Intn(1<<22))
	commit(slot, n, 0)
}

// forgePlaces makes slots look complete, and places of stacks look taken.
func forgePlaces(a *area, r *rand.Rand) {
	ring := a.ring(r.Uint64() % rings)
	n := ring[0] + r.Uint64()%8
	a.slot(ring, n)[0] = n + 1
	a.words[r.Intn(seenBytes/8)] = r.Uint64()
}

// freePages rarely drops pages, or maps others in their place.
func freePages(a *area, r *rand.Rand) {
	at, size := uintptr(unsafe.Pointer(&a.words[0])), uintptr(len(a.words)*8)
	switch r.Intn(burst * 20) {
	case 0:
		syscall.RawSyscall(syscall.SYS_MADVISE, at, size, 9 /* MADV_REMOVE */)
	case 1:
		syscall.RawSyscall6(syscall.SYS_MMAP, at, size, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_SHARED|syscall.MAP_ANON|syscall.MAP_FIXED, ^uintptr(0), 0)
	}
}

// tolerant ignores faults: a recorder may map the memory again meanwhile.
func tolerant(f func()) {
	defer func() { _ = recover() }()
	f()
}

func scribbleOnce(r *rand.Rand) {
	a, found := findRings()
	if !found {
		return
	}
	kind := kinds[r.Intn(len(kinds))]
	from := 0 // places of stacks, and the first ring
	if r.Intn(2) == 0 {
		from = r.Intn(len(a.words) - partWords)
	}
	a.part = a.words[from:][:partWords]
	for i := 0; i < burst; i++ {
		kind(&a, r)
	}
}

func scribbleWith(once func(*rand.Rand)) {
	debug.SetPanicOnFault(true)
	r := rand.New(rand.NewSource(rand.Int63() ^ time.Now().UnixNano()))
	for ; ; time.Sleep(burstGap) {
		tolerant(func() { once(r) })
	}
}

func scribble() { scribbleWith(scribbleOnce) }

var oneAreaAtATime sync.Mutex

// scribbleAreas also overwrites the header in the area of code, which the program can make writable: for a
// few milliseconds, since only the header shows a later recorder where the program has been changed.
func scribbleAreas() {
	scribbleWith(func(r *rand.Rand) {
		scribbleOnce(r)
		oneAreaAtATime.Lock()
		defer oneAreaAtATime.Unlock()
		for _, m := range mappings("r-xp", "") {
			if m[1]-m[0] == codeBytes {
				scribbleHeader(wordsOf([2]uintptr{m[0], m[0] + headerBytes}), r)
			}
		}
	})
}

func scribbleHeader(words []uint64, r *rand.Rand) {
	at := uintptr(unsafe.Pointer(&words[0]))
	word := &words[r.Intn(len(words))]
	was := *word
	is := was ^ r.Uint64()>>r.Intn(64)
	syscall.RawSyscall(syscall.SYS_MPROTECT, at, headerBytes, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC)
	if atomic.CompareAndSwapUint64(word, was, is) {
		time.Sleep(time.Duration(r.Intn(8000)) * time.Microsecond)
		atomic.CompareAndSwapUint64(word, is, was) // unless a recorder has written a new one
	}
	syscall.RawSyscall(syscall.SYS_MPROTECT, at, headerBytes, syscall.PROT_READ|syscall.PROT_EXEC)
}
