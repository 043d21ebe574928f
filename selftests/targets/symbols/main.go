// symbols prints the runtime's symbolization of each PC of its own text: the functions, files and
// lines of runtime.CallersFrames, including inlined frames. selftests/check/symbols.sh compares the
// output of selftests/symbols/frames.c with it, line by line.
//
// First comes a line "text OFFSET SIZE STRIDE": the part of the program's file that was mapped as
// executable, and the distance of the PCs that follow. Between them are additional ones: the last
// byte of anything that looks like a call. Then a line for each PC whose frames differ from those
// of the PC before:
//
//	OFFSET FUNCTION FILE:LINE; FUNCTION FILE:LINE; ...	innermost first
//	OFFSET last FUNCTION FILE:LINE; ...			the last byte of a function
//	OFFSET -						no Go code
//
// A PC is interpreted as the last byte of a call. For a function's last byte the runtime shows the
// next function: a signal may stop a goroutine at its entry, while no call of Go's ends there. The
// last line has the number of PCs.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"gotrace-bpf/selftests/targets/internal/protocol"
)

type text struct {
	start, size, offset uintptr
}

// The executable mapping of the program's own file.
func findText() (t text, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return t, err
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return t, err
	}
	for _, line := range strings.Split(string(maps), "\n") {
		var end uintptr
		var mode, rest string
		if n, _ := fmt.Sscanf(line, "%x-%x %s %x", &t.start, &end, &mode, &t.offset); n < 4 {
			continue
		}
		_, rest, _ = strings.Cut(line, " /")
		if mode == "r-xp" && "/"+rest == exe {
			t.size = end - t.start
			return t, nil
		}
	}
	return t, fmt.Errorf("%s is not mapped", exe)
}

// Is the last byte of something like `call rel32` at p?
func endsCall(t text, p uintptr) bool {
	if p < t.start+4 || *(*byte)(unsafe.Pointer(p - 4)) != 0xe8 {
		return false
	}
	rel := *(*int32)(unsafe.Pointer(p - 3))
	return p+1+uintptr(rel)-t.start < t.size
}

func describe(out *bytes.Buffer, p uintptr) {
	f, next := runtime.FuncForPC(p), runtime.FuncForPC(p+1)
	if f == nil || next == nil {
		out.WriteByte('-')
		return
	}
	if next.Entry() != f.Entry() {
		out.WriteString("last ")
	}
	frames := runtime.CallersFrames(expand([]uintptr{p + 1}))
	for {
		frame, more := frames.Next()
		fmt.Fprintf(out, "%s %s:%d", frame.Function, frame.File, frame.Line)
		if !more {
			return
		}
		out.WriteString("; ")
	}
}

func main() {
	stride := flag.Uint("stride", 1, "distance of the PCs")
	calls := flag.Int("calls", 0, "instead: so many calls of C code that calls Go code that blocks")
	flag.Parse()
	t, err := findText()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	use()
	if *calls > 0 {
		protocol.Ready()
		for i := 0; i < *calls; i++ {
			useC(i)
		}
		protocol.Done(map[string]int{"calls": *calls})
		return
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintf(out, "text %x %x %d\n", t.offset, t.size, *stride)
	var last, now bytes.Buffer
	n := 0
	for p := t.start; p < t.start+t.size; p++ {
		if (p-t.start)%uintptr(*stride) != 0 && !endsCall(t, p) {
			continue
		}
		n++
		now.Reset()
		describe(&now, p)
		if !bytes.Equal(last.Bytes(), now.Bytes()) {
			fmt.Fprintf(out, "%x %s\n", t.offset+p-t.start, now.Bytes())
			last, now = now, last
		}
	}
	fmt.Fprintf(out, "%d PCs\n", n)
}
