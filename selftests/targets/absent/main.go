// Absent has pages that are not in memory and arrive late: a userfaultfd handler that replies
// late simulates a FUSE file system that hangs. It needs root.
//
//	absent [-after DURATION]
//	absent -runtime
//
// It calls trace.Log with texts in such pages. The program itself does not read them, since the
// runtime's tracer is off, so the calls must not take longer than others. After the duration the
// pages are provided; the done line has the duration of the longest call in ms.
//
// With -runtime it removes the page with the runtime's list of goroutines, and sleeps: the program
// blocks when it next accesses the list, and so does every other reader of that page.
package main

import (
	"context"
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"syscall"
	"time"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

const (
	sysUserfaultfd   = 323
	ioctlAPI         = 0xc018aa3f
	ioctlRegister    = 0xc020aa00
	ioctlZeropage    = 0xc020aa04
	registerMissing  = 1
	userfaultVersion = 0xaa
	page             = 4096
)

var (
	inRuntime = flag.Bool("runtime", false, "make a page of the runtime absent")
	after     = flag.Duration("after", 5*time.Second, "when the pages of texts are answered")
	handler   uintptr
)

func ioctl(request uintptr, argument unsafe.Pointer) {
	if _, _, e := syscall.RawSyscall(syscall.SYS_IOCTL, handler, request, uintptr(argument)); e != 0 {
		protocol.Fail(fmt.Errorf("ioctl %#x: %w", request, e))
	}
}

func openHandler() {
	fd, _, e := syscall.RawSyscall(sysUserfaultfd, syscall.O_CLOEXEC, 0, 0)
	if e != 0 {
		protocol.Fail(fmt.Errorf("userfaultfd: %w", e))
	}
	handler = fd
	ioctl(ioctlAPI, unsafe.Pointer(&[3]uint64{userfaultVersion}))
}

func register(at uintptr, size uintptr) {
	ioctl(ioctlRegister, unsafe.Pointer(&[4]uint64{uint64(at), uint64(size), registerMissing}))
}

func answer(at uintptr) {
	ioctl(ioctlZeropage, unsafe.Pointer(&[4]uint64{uint64(at), page}))
}

// text returns a string of n bytes in absent pages of its own.
func text(n int) string {
	b, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	protocol.Check(err)
	at := uintptr(unsafe.Pointer(&b[0]))
	register(at, 2*page)
	time.AfterFunc(*after, func() { answer(at); answer(at + page) })
	b = b[:n]
	return *(*string)(unsafe.Pointer(&b))
}

func logs() {
	var longest time.Duration
	ctx := context.Background()
	for _, s := range []string{text(10), text(500), text(page + 10)} {
		begin := time.Now()
		trace.Log(ctx, "absent", s)
		trace.Log(ctx, s, "absent")
		if took := time.Since(begin); took > longest {
			longest = took
		}
	}
	protocol.Done(map[string]any{"longest_ms": longest.Milliseconds()})
}

func addressOf(symbol string) uintptr {
	f := protocol.Must(elf.Open("/proc/self/exe"))
	symbols := protocol.Must(f.Symbols())
	for _, s := range symbols {
		if s.Name == symbol {
			return uintptr(s.Value)
		}
	}
	protocol.Fail(fmt.Errorf("no symbol %s", symbol))
	return 0
}

// After the madvise() the runtime must not be used any more.
func withoutRuntime() {
	at := addressOf("runtime.allglen") &^ (page - 1)
	openHandler()
	register(at, page)
	fmt.Println("absent")
	runtime.LockOSThread()
	syscall.RawSyscall(syscall.SYS_MADVISE, at, page, syscall.MADV_DONTNEED)
	for {
		syscall.RawSyscall(syscall.SYS_PAUSE, 0, 0, 0)
	}
}

func main() {
	flag.Parse()
	if os.Geteuid() != 0 {
		protocol.Fail(fmt.Errorf("only root may handle page faults of the kernel"))
	}
	if *inRuntime {
		withoutRuntime()
	}
	openHandler()
	protocol.Ready()
	logs()
}
