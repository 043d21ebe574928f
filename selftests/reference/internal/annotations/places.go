package annotations

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/exp/trace"
)

// placeName is how a place is named in Figures; "": it is not known.
func placeName(function, file string, line uint64) string {
	if function == "" {
		return ""
	}
	return fmt.Sprintf("%s %s:%d", function, file, line)
}

// place returns the frame that identifies a place in the program: the innermost one outside of the standard
// library, or outside of the packages that implement waiting, or the innermost.
func place(stack trace.Stack) string {
	frames := []trace.StackFrame{}
	for f := range stack.Frames() {
		if f.Func != "" {
			frames = append(frames, f)
		}
	}
	for _, passes := range []func(path string) bool{
		func(path string) bool { return !isStandard(path) },
		func(path string) bool { return !isLow(path) },
		func(path string) bool { return true },
	} {
		for _, f := range frames {
			if passes(packagePath(f.Func)) {
				return placeName(f.Func, f.File, f.Line)
			}
		}
	}
	return ""
}

// packagePath returns "net/http" for "net/http.(*conn).serve".
func packagePath(function string) string {
	if i := strings.IndexAny(function, "[("); i >= 0 {
		function = function[:i]
	}
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return function
	}
	return function[:slash+dot]
}

func isLow(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == "runtime" || first == "internal" || first == "sync" || first == "syscall"
}

var goroot = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(out))
})

// standard remembers for which first elements the Go toolchain has sources.
var standard = map[string]bool{}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	is, known := standard[first]
	if !known {
		_, err := os.Stat(filepath.Join(goroot(), "src", first))
		is = first != "" && first != "cmd" && err == nil
		standard[first] = is
	}
	return is
}
