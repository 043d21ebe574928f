// Corpus extracts the traces of Go's own tests from a Go toolchain, so that this tree does not
// contain copies.
//
//	corpus [-goroot DIR] -o DIR
//
// It writes below DIR, each trace with its expected result:
//
//	v2/NAME.trace v2/NAME.expect    golden tests of the reader; those of go tool trace as
//	                                tool-NAME. SUCCESS is expected, or FAILURE with a quoted
//	                                regular expression
//	text/NAME.txt                   the same as they stand there, in the text form
//	fuzz/NAME fuzz/NAME.expect      seeds of the reader's fuzz test; no expected result comes with them,
//	                                so it is that of golang.org/x/exp/trace now
//	v1/NAME                         traces of Go 1.5 to 1.21
//
// It prints the number of each kind. Their location depends on the toolchain: 1.22 and 1.23 have
// the v2 reader in a folder of its own.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/expected"
	"gotrace-bpf/selftests/reference/internal/wire"
)

func main() {
	goroot := flag.String("goroot", "", "the toolchain's folder; that of the go command if not given")
	out := flag.String("o", "", "write below `DIR`")
	flag.Parse()
	command.Usage(*out != "" && flag.NArg() == 0, "corpus [-goroot DIR] -o DIR")
	c := corpus{from: *goroot, to: *out}
	command.Check(c.extract())
}

type corpus struct{ from, to string }

func (c *corpus) extract() error {
	if c.from == "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("no Go toolchain: %w", err)
		}
		c.from = strings.TrimSpace(string(root))
	}
	for _, step := range []struct {
		what     string
		patterns []string
		do       func(path string) error
	}{
		{"v2", []string{"src/internal/trace/testdata/tests/*.test",
			"src/internal/trace/v2/testdata/tests/*.test"},
			func(path string) error { return c.golden(path, "") }},
		{"tool", []string{"src/cmd/trace/testdata/*.test", "src/cmd/trace/v2/testdata/*.test"},
			func(path string) error { return c.golden(path, "tool-") }},
		{"fuzz", []string{"src/internal/trace/testdata/fuzz/FuzzReader/*",
			"src/internal/trace/v2/testdata/fuzz/FuzzReader/*"}, c.seed},
		{"v1", []string{"src/internal/trace/internal/*/testdata/*_1_*",
			"src/internal/trace/testdata/*_1_*"}, c.v1},
	} {
		n := 0
		for _, pattern := range step.patterns {
			paths := command.Must(filepath.Glob(filepath.Join(c.from, pattern)))
			for _, path := range paths {
				if err := step.do(path); err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				n++
			}
		}
		fmt.Println(step.what, n)
	}
	return nil
}

// golden extracts a test: an archive of "expect" and "trace", or, for go tool trace, the bare text.
func (c *corpus) golden(path, prefix string) error {
	archive, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := prefix + strings.TrimSuffix(filepath.Base(path), ".test")
	text := section(archive, "trace")
	if text == nil {
		text = archive
	}
	binary, err := wire.FromText(bytes.NewReader(text))
	if err != nil {
		return err
	}
	expect := section(archive, "expect")
	if len(expect) == 0 {
		expect = expectation(binary)
	}
	return firstError(c.write("text/"+name+".txt", text), c.write("v2/"+name+".trace", binary),
		c.write("v2/"+name+".expect", expect))
}

// seed extracts a value of Go's fuzzing: a line of the format's version and one with a literal of a
// []byte.
func (c *corpus) seed(path string) error {
	file := command.Must(os.ReadFile(path))
	_, literal, _ := strings.Cut(string(file), "\n")
	literal = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(literal), "[]byte("), ")")
	value, err := strconv.Unquote(literal)
	if err != nil {
		return fmt.Errorf("no []byte: %q", literal)
	}
	name := "fuzz/" + filepath.Base(path)
	return firstError(c.write(name, []byte(value)), c.write(name+".expect", expectation([]byte(value))))
}

func (c *corpus) v1(path string) error {
	file := command.Must(os.ReadFile(path))
	return c.write("v1/"+filepath.Base(path), file)
}

func (c *corpus) write(name string, data []byte) error {
	path := filepath.Join(c.to, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// section returns a file of a txtar archive, nil if it has none of that name.
func section(archive []byte, name string) []byte {
	_, after, found := bytes.Cut(archive, []byte("-- "+name+" --\n"))
	if !found {
		return nil
	}
	if end := bytes.Index(after, []byte("\n-- ")); end >= 0 {
		after = after[:end+1]
	}
	return after
}

// expectation is the result of Go's current reader, in the form of a golden test.
func expectation(binary []byte) []byte {
	v := expected.Of(bytes.NewReader(binary), nil)
	if v.Kind == expected.OK {
		return []byte("SUCCESS\n")
	}
	return fmt.Appendf(nil, "FAILURE %q\n", regexp.QuoteMeta(v.Reason))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
