//go:build !garbled

package main

import _ "unsafe"

// expand adds the frames around an inlined one to the PC of a call's end.
//
//go:linkname expand runtime/pprof.runtime_expandFinalInlineFrame
func expand(stack []uintptr) []uintptr
