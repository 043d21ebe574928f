package main

import (
	"bufio"
	"os"
	"strings"
)

// readAccepted reads the reviewed survivors: a line `FILE: BEFORE -> AFTER` as it is printed,
// without the line number, and below it indented lines with the reason.
func readAccepted(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()

	accepted := map[string]string{}
	var last string
	s := bufio.NewScanner(f)
	for s.Scan() {
		line := s.Text()
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
			last = ""
		case line[0] == '\t' || line[0] == ' ':
			if last != "" {
				accepted[last] = strings.TrimSpace(accepted[last] + " " + strings.TrimSpace(line))
			}
		default:
			last = line
		}
	}
	return accepted, s.Err()
}
