// Text converts traces with Go's own internal/trace/raw, as the oracle for `gotrace text` and
// `gotrace assemble`.
//
//	text text <TRACE >TEXT
//	text raw <TEXT >TRACE
//	text characters >TRACE        strings of every character, and of bytes that are none
//	text mutants N DIR TEXT...    N changed texts DIR/0.txt ...: with DIR/0.trace, what Go makes of it, or,
//	                              if Go refuses it, with DIR/0.refused, its reason
//
// The package can be imported only within Go's own tree: selftests/check/text.sh presents this file
// to the go command as a part of that (-overlay).
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"internal/trace/raw"
	"internal/trace/tracev2"
	"internal/trace/version"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], os.Stdin, out)
	out.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "text":
		return toText(in, out)
	case len(args) == 1 && args[0] == "raw":
		return toRaw(in, out)
	case len(args) == 1 && args[0] == "characters":
		return characters(out)
	case len(args) > 3 && args[0] == "mutants":
		return mutants(args[1], args[2], args[3:])
	}
	return fmt.Errorf("usage: text text|raw|characters, or text mutants N DIR TEXT...")
}

type reader interface{ ReadEvent() (raw.Event, error) }
type writer interface{ WriteEvent(raw.Event) error }

func toText(in io.Reader, out io.Writer) error {
	r, err := raw.NewReader(in)
	if err != nil {
		return err
	}
	w, err := raw.NewTextWriter(out, r.Version())
	if err != nil {
		return err
	}
	return convert(r, w)
}

func toRaw(in io.Reader, out io.Writer) error {
	r, err := raw.NewTextReader(in)
	if err != nil {
		return err
	}
	w, err := raw.NewWriter(out, r.Version())
	if err != nil {
		return err
	}
	return convert(r, w)
}

func convert(r reader, w writer) error {
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.WriteEvent(ev); err != nil {
			return err
		}
	}
}

// characters writes strings of 100 numbers each, 0 to U+10FFFF and beyond: as UTF-8, invalid
// characters as the bytes of their encoding; and each pair of bytes.
func characters(out io.Writer) error {
	w, err := raw.NewWriter(out, version.Current)
	if err != nil {
		return err
	}
	var data []byte
	id := uint64(0)
	flush := func() error {
		id++
		ev := raw.Event{Version: version.Current, Ev: tracev2.EvString, Args: []uint64{id}, Data: data}
		data = nil
		return w.WriteEvent(ev)
	}
	for r := rune(0); r < 0x110100; r++ {
		if utf8.ValidRune(r) {
			data = utf8.AppendRune(data, r)
		} else if r < 0x10000 {
			data = append(data, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
		} else {
			data = append(data, 0xf0|byte(r>>18), 0x80|byte(r>>12)&0xbf, 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
		}
		if r%100 == 99 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	for i := 0; i < 0x10000; i++ {
		data = append(data, byte(i>>8), byte(i))
		if i%100 == 99 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Insertions for texts: everything with a meaning there, and near misses.
var pieces = []string{
	" ", "\t", "\v", "\u00a0", "\u2003", "\u1680", "\u0085", "\u2028", "\u200b", "\x85", "\xe2\x80", "\xff", "\x00", "#",
	"# comment\n", "\n", "\n\n", "\r\n", "\r", "\"", "'", "`", "\\", "\\x41", "\\u00e9", "\\U0001F600", "\\ud800", "\\777", "\\101",
	"\\400", "\\q", "=", "==", " =", "data=", "0", "00", "18446744073709551615", "18446744073709551616", "-1", "+1", "_", "0x1",
	"Stack id=1 nframes=2\n", "nframes=18446744073709551615", "String id=7\n\tdata=`a\r\\b`\n", "String id=7\n data='x'\n",
	"String id=7\n data = '' \n", "String id=7\n\tdata=\"\xff\u00e9\xed\xa0\x80\U0001f600\\xff\"\n", "Strings\n", "Strings #\n",
	"Strings x\n", "GoStop", "Sync\n", "GoSwitch dt=1 g=1 g_seq=1\n", "EndOfGeneration\n", "Span dt=1 id=2 npages_value=3 kindclass=4\n",
	"Trace", "Trace Go1.22\n", "Go1.26", "Go1.21",
}

func mutate(rng *rand.Rand, text string) string {
	if rng.Intn(2) == 0 { // a few of its lines
		header, rest, _ := strings.Cut(text, "\n")
		lines := strings.Split(rest, "\n")
		from := rng.Intn(len(lines))
		text = header + "\n" + strings.Join(lines[from:min(len(lines), from+1+rng.Intn(8))], "\n")
	}
	for range rng.Intn(4) {
		at := rng.Intn(len(text) + 1)
		end := min(len(text), at+rng.Intn(6))
		switch rng.Intn(4) {
		case 0, 1:
			text = text[:at] + pieces[rng.Intn(len(pieces))] + text[at:]
		case 2:
			text = text[:at] + text[end:]
		case 3:
			text = text[:at] + pieces[rng.Intn(len(pieces))] + text[end:]
		}
	}
	return text
}

func mutants(count, folder string, paths []string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	var texts []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		texts = append(texts, string(text))
	}
	rng := rand.New(rand.NewSource(1))
	for i := range n {
		text := mutate(rng, texts[rng.Intn(len(texts))])
		name := filepath.Join(folder, strconv.Itoa(i))
		if err := os.WriteFile(name+".txt", []byte(text), 0o666); err != nil {
			return err
		}
		var trace bytes.Buffer
		if err := toRaw(strings.NewReader(text), &trace); err != nil {
			err = os.WriteFile(name+".refused", []byte(err.Error()), 0o666)
		} else {
			err = os.WriteFile(name+".trace", trace.Bytes(), 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
