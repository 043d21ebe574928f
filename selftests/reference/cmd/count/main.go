// Count reads traces with golang.org/x/exp/trace and only counts events: the baseline of `make
// bench` for reading.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"golang.org/x/exp/trace"
)

func count(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return 0, err
	}
	for {
		if _, err := r.ReadEvent(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n++
	}
}

func main() {
	for _, path := range os.Args[1:] {
		n, err := count(path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "count: %s: %v\n", path, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d events\n", path, n)
	}
}
