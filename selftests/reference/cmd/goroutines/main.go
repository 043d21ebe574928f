// Goroutines prints the goroutines, regions and tasks of a trace according to the Summarizer of
// Go's internal/trace, in the canonical text that `gotrace goroutines --canonical` must print as
// well (see CANONICAL.md).
//
//	goroutines FILE
//
// golang.org/x/exp/trace has no Summarizer, and internal/trace can be imported only within Go's own
// tree. So this program only starts _oracle/main.go, which it compiles at its first run: an overlay
// presents that file to the go command in the tree of the toolchain that compiled this program,
// without writing there. The result is stored next to this program.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

//go:embed _oracle/main.go
var source []byte

func main() {
	oracle, err := compiled()
	if err == nil {
		err = syscall.Exec(oracle, append([]string{"goroutines"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "goroutines:", err)
	os.Exit(1)
}

// compiled returns the path of the compiled _oracle/main.go, which it compiles if the binary is
// missing or older than this program.
func compiled() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	oracle := self + ".oracle"
	if made, err := os.Stat(oracle); err == nil && made.ModTime().After(own.ModTime()) {
		return oracle, nil
	}
	folder, err := os.MkdirTemp(filepath.Dir(self), "goroutines")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := compile(folder); err != nil {
		return "", err
	}
	return oracle, os.Rename(filepath.Join(folder, "oracle"), oracle) // another process may do the same concurrently
}

func compile(folder string) error {
	root, err := goCommand("", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("no Go toolchain: %w", err)
	}
	goroot := strings.TrimSpace(string(root))
	file := filepath.Join(folder, "main.go")
	overlay := filepath.Join(folder, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(goroot, "src/cmd/goroutines/main.go"): file},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, source, 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return err
	}
	build := goCommand(filepath.Join(goroot, "src/cmd"), "build", "-overlay", overlay,
		"-o", filepath.Join(folder, "oracle"), "./goroutines")
	// A toolchain that was downloaded is in the module cache, where -overlay replaces nothing.
	build.Path = filepath.Join(goroot, "bin/go")
	build.Env = append(build.Env, "GOTOOLCHAIN=local", "GOROOT="+goroot, "GOMODCACHE="+filepath.Join(folder, "modules"))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// goCommand runs the toolchain that this program was compiled with, whichever go is on PATH.
func goCommand(folder string, args ...string) *exec.Cmd {
	name := os.Getenv("GO")
	if name == "" {
		name = "go"
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+runtime.Version(), "CGO_ENABLED=0", "GOFLAGS=")
	return cmd
}
