package wire

// This file converts the text form of a trace, as used by Go's golden tests, to the binary form.

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FromText reads the text form and returns the binary one.
func FromText(in io.Reader) ([]byte, error) {
	t := &text{in: bufio.NewScanner(in)}
	t.in.Buffer(nil, 1<<20)
	if !t.next() || len(t.words) != 2 || t.words[0] != "Trace" || !strings.HasPrefix(t.words[1], "Go1.") {
		return nil, t.errorf("no header")
	}
	t.out = fmt.Appendf(nil, "go 1.%s trace\x00\x00\x00", strings.TrimPrefix(t.words[1], "Go1."))
	for t.next() {
		if err := t.event(); err != nil {
			return nil, err
		}
	}
	return t.out, t.in.Err()
}

type text struct {
	in    *bufio.Scanner
	n     int      // lines read
	line  string   // the last one
	words []string // its words, without the comment
	out   []byte
}

func (t *text) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", t.n, fmt.Sprintf(format, args...))
}

// next goes to the next line that is neither empty nor a comment.
func (t *text) next() bool {
	for t.in.Scan() {
		t.n++
		t.line = t.in.Text()
		words, _, _ := strings.Cut(t.line, "#")
		if t.words = strings.Fields(words); len(t.words) > 0 {
			return true
		}
	}
	return false
}

func (t *text) event() error {
	s := byName[t.words[0]]
	if s == nil {
		return t.errorf("no event %q", t.words[0])
	}
	args, err := t.numbers(t.words[1:], s.Args)
	if err != nil {
		return err
	}
	t.out = append(t.out, s.Type)
	if s.Type == ExperimentalBatch {
		t.out = append(t.out, byte(args[0]))
		args = args[1:]
	}
	for _, v := range args {
		t.out = binary.AppendUvarint(t.out, v)
	}
	switch s.Type {
	case Stack:
		return t.frames(args[1])
	case String, ExperimentalBatch:
		return t.data()
	}
	return nil
}

func (t *text) numbers(words, names []string) ([]uint64, error) {
	if len(words) != len(names) {
		return nil, t.errorf("%d arguments, not %d", len(words), len(names))
	}
	var out []uint64
	for i, word := range words {
		name, value, _ := strings.Cut(word, "=")
		v, err := strconv.ParseUint(value, 10, 64)
		if name != names[i] || err != nil {
			return nil, t.errorf("%q is no %s", word, names[i])
		}
		out = append(out, v)
	}
	return out, nil
}

func (t *text) frames(n uint64) error {
	for ; n > 0; n-- {
		if !t.next() {
			return t.errorf("the stack is cut short")
		}
		frame, err := t.numbers(t.words, []string{"pc", "func", "file", "line"})
		if err != nil {
			return err
		}
		for _, v := range frame {
			t.out = binary.AppendUvarint(t.out, v)
		}
	}
	return nil
}

func (t *text) data() error {
	if !t.next() {
		return t.errorf("no data")
	}
	name, quoted, _ := strings.Cut(t.line, "=")
	data, err := strconv.Unquote(strings.TrimSpace(quoted))
	if strings.TrimSpace(name) != "data" || err != nil {
		return t.errorf("no data: %q", t.line)
	}
	t.out = binary.AppendUvarint(t.out, uint64(len(data)))
	t.out = append(t.out, data...)
	return nil
}
