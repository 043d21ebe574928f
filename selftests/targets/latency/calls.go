package main

// System calls: raw ones, for which a goroutine stays "running", and a read that is reported to the
// runtime.

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/clocks"
	"gotrace-bpf/selftests/targets/internal/protocol"
)

const convoyMembers = 4

func convoy() []part {
	r := together(convoyMembers, func(used chan<- use) { go member(used) })
	return append(r.split("main.member"),
		r.asleep("main.member", kernelBlocked, "futex"),
		share("main.member", 0.4, 0.8, kernelBlocked))
}

// member uses a CPU in turn with the other ones: each waits in the kernel, with a P, until the
// previous one passes the turn on, as with locks that are handed over.
func member(used chan<- use) {
	mine := atomic.AddInt32(&members, 1) - 1
	next := (mine + 1) % convoyMembers
	used <- locked(func(until int64) {
		for last := false; !last; {
			await(&turns[mine])
			for i := 0; i < 20 && !over; i++ {
				clocks.Burn()
			}
			over = over || clocks.Wall() >= until
			last = over
			pass(&turns[next])
		}
	})
}

var (
	members int32
	turns   = [convoyMembers]uint32{1}
	over    bool // the owner of the turn reports it
)

//go:nosplit
func await(turn *uint32) {
	for atomic.SwapUint32(turn, 0) == 0 {
		syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(turn)), futexWait, 0, 0, 0, 0)
	}
}

//go:nosplit
func pass(turn *uint32) {
	atomic.StoreUint32(turn, 1)
	syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(turn)), futexWake, 1, 0, 0, 0)
}

const futexWait, futexWake = 128, 129 // private

func rawCalls() []part {
	slept, read := make(chan use), make(chan use)
	go rawSleeper(slept)
	go rawReader(read)
	s, r := <-slept, <-read
	parts := append(s.split("main.rawSleeper"),
		s.asleep("main.rawSleeper", kernelBlocked, "nanosleep"),
		share("main.rawSleeper", 0.4, 1, kernelBlocked))
	parts = append(parts, r.split("main.rawReader")...)
	return append(parts, r.is("main.rawReader", "less its own time", r.CPU-betweenCalls, syscallOnCPU))
}

func rawSleeper(used chan<- use) {
	used <- locked(func(until int64) {
		for clocks.Wall() < until {
			clocks.Sleep(20e6)
		}
	})
}

// betweenCalls is how much CPU time rawReader used around its calls of read.
var betweenCalls int64

// rawReader uses CPU time in the kernel only, except for a few microseconds per millisecond: the
// cost of making a system call and returning, on this machine and with this tracer, is measured
// with empty reads.
func rawReader(used chan<- use) {
	fd := protocol.Must(syscall.Open("/dev/zero", syscall.O_RDONLY, 0))
	buf := make([]byte, 16<<20)
	calls := int64(0)
	u := locked(func(until int64) {
		for ; clocks.Wall() < until; calls++ {
			readZeros(fd, &buf[0], len(buf))
		}
	})
	betweenCalls = calls * costOfCall(fd)
	used <- u
	syscall.Close(fd)
}

//go:nosplit
func readZeros(fd int, to *byte, n int) {
	syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(to)), uintptr(n))
}

// costOfCall is the CPU time of one iteration of rawReader's loop with an empty read.
func costOfCall(fd int) int64 {
	const turns = 2000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := clocks.CPU()
	for i := 0; i < turns; i++ {
		clocks.Wall()
		readZeros(fd, nil, 0)
	}
	return (clocks.CPU() - before) / turns
}

func slowPipe() []part {
	var fds [2]int
	protocol.Check(syscall.Pipe(fds[:]))
	used := make(chan use)
	go pipeReader(fds[0], used)
	go pipeWriter(fds[1])
	r := <-used
	syscall.Close(fds[0])
	return append(r.split("main.pipeReader"),
		r.asleep("main.pipeReader", syscallBlocked, "read"),
		share("main.pipeReader", 0.7, 1, syscallBlocked))
}

func pipeReader(fd int, used chan<- use) {
	used <- locked(func(int64) {
		var buf [1]byte
		for {
			if n, _ := syscall.Read(fd, buf[:]); n == 0 {
				return
			}
		}
	})
}

func pipeWriter(fd int) {
	for end := clocks.Wall() + int64(*duration); clocks.Wall() < end; {
		time.Sleep(10 * time.Millisecond)
		syscall.Write(fd, []byte{1})
	}
	syscall.Close(fd)
}

// localSocket wakes its reader over loopback TCP: in a softirq on the thread of its own write.
func localSocket() []part {
	reader, writer := connection()
	used := make(chan use)
	go pipeReader(reader, used)
	go socketWriter(writer)
	r := <-used
	syscall.Close(reader)
	return append(r.split("main.pipeReader"),
		r.asleep("main.pipeReader", syscallBlocked, "read"))
}

func connection() (accepted, connected int) {
	listener := protocol.Must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
	protocol.Check(syscall.Bind(listener, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	protocol.Check(syscall.Listen(listener, 1))
	address := protocol.Must(syscall.Getsockname(listener))
	connected = protocol.Must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
	protocol.Check(syscall.Connect(connected, address))
	accepted, _, err := syscall.Accept(listener)
	protocol.Check(err)
	syscall.Close(listener)
	return accepted, connected
}

func socketWriter(fd int) {
	for end := clocks.Wall() + int64(*duration); clocks.Wall() < end; {
		for next := clocks.Wall() + int64(time.Millisecond); clocks.Wall() < next; {
			clocks.Burn()
		}
		syscall.Write(fd, []byte{1})
	}
	syscall.Close(fd)
}
