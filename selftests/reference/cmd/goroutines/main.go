// Goroutines prints what the Summarizer of Go's internal/trace says of the goroutines, regions and
// tasks of a trace, in the canonical text that `gotrace goroutines --canonical` must print alike
// (see CANONICAL.md).
//
//	goroutines FILE
//
// golang.org/x/exp/trace has no Summarizer, and internal/trace can be imported from Go's own tree
// only. So this program is but the starter of _judge/main.go, which it compiles at its first run:
// an overlay shows the go command that file in the tree of the toolchain that compiled the starter,
// where no file is written. The result stays beside the starter.
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

//go:embed _judge/main.go
var source []byte

func main() {
	judge, err := compiled()
	if err == nil {
		err = syscall.Exec(judge, append([]string{"goroutines"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "goroutines:", err)
	os.Exit(1)
}

// compiled returns the path of the judge, which it compiles if there is none as new as this
// program.
func compiled() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	judge := self + ".judge"
	if made, err := os.Stat(judge); err == nil && made.ModTime().After(own.ModTime()) {
		return judge, nil
	}
	folder, err := os.MkdirTemp(filepath.Dir(self), "goroutines")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := compile(folder); err != nil {
		return "", err
	}
	return judge, os.Rename(filepath.Join(folder, "judge"), judge) // another one may do the same now
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
		"-o", filepath.Join(folder, "judge"), "./goroutines")
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
