package offsets

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Range is a row of the table: releases 1.Minor.From to 1.Minor.To have these offsets.
type Range struct {
	Minor, From, To int
	Row             []int64
}

// Ranges merges neighbours of one minor release that are equal. A patch release between two equal ones belongs
// to them; one between two that differ is in no range.
func Ranges(members []Member, releases []Release) ([]Range, error) {
	var ranges []Range
	for _, r := range releases {
		row, err := Row(members, r.Structs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		for i, m := range members {
			switch {
			case r.Minor < m.Since:
				row[i] = None
			case row[i] == None:
				return nil, fmt.Errorf("%s: no member %s of %s", r.Name, m.Name, m.Struct)
			}
		}
		if n := len(ranges); n > 0 && ranges[n-1].Minor == r.Minor && slices.Equal(ranges[n-1].Row, row) {
			ranges[n-1].To = r.Patch
			continue
		}
		ranges = append(ranges, Range{r.Minor, r.Patch, r.Patch, row})
	}
	return ranges, nil
}

const head = `// SPDX-License-Identifier: GPL-2.0
/*
 * Where the members of the runtime's structs stand in each Go release: MADE by "make offsets", not
 * by hand, from the DWARF of a program that was built with each toolchain.
 *
 * The second source of target/layout.c, behind the program's own DWARF, and what its machine code
 * is held against. A release between two ranges is not in here: nobody looked at it.
 */
#include "target/offsets_table.h"

#define NO OFFSET_ABSENT

_Static_assert(OFF_COUNT == %d, "the list OFFSETS was changed: run \"make offsets\"");

static const struct offsets_row rows[] = {
`

const tail = `};

const struct offsets_row *offsets_table__row(size_t n)
{
	return n < sizeof(rows) / sizeof(rows[0]) ? &rows[n] : NULL;
}
`

// Table is the C file.
func Table(members []Member, releases []Release) (string, error) {
	ranges, err := Ranges(members, releases)
	if err != nil {
		return "", err
	}
	if len(ranges) == 0 {
		return "", fmt.Errorf("no releases")
	}
	var b strings.Builder
	fmt.Fprintf(&b, head, len(members))
	for _, r := range ranges {
		fmt.Fprintf(&b, "\t{ %d, %d, %d, {", r.Minor, r.From, r.To)
		line := ""
		for i, m := range members {
			value := fmt.Sprint(r.Row[i])
			if r.Row[i] == None {
				value = "NO"
			}
			item := fmt.Sprintf("[OFF_%s] = %s,", m.ID, value)
			if line == "" || len(line)+1+len(item) > 84 {
				b.WriteString(line)
				line = "\n\t\t" + item
			} else {
				line += " " + item
			}
		}
		b.WriteString(line + "\n\t} },\n")
	}
	b.WriteString(tail)
	return b.String(), nil
}

// Compare prints where the releases differ from a list of ranges {from, to, layout: {struct: {member: offset}}},
// for the members that both know.
func Compare(w io.Writer, releases []Release, file string) error {
	var others []struct {
		From, To string
		Layout   Structs
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &others)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	compared, different := 0, 0
	for _, o := range others {
		var minor, from, to int
		if _, err := fmt.Sscanf(o.From, "1.%d.%d", &minor, &from); err != nil {
			return fmt.Errorf("%s: %q is no release", file, o.From)
		}
		if _, err := fmt.Sscanf(o.To, "1.%d.%d", &minor, &to); err != nil {
			return fmt.Errorf("%s: %q is no release", file, o.To)
		}
		for _, r := range releases {
			if r.Minor != minor || r.Patch < from || r.Patch > to {
				continue
			}
			for s, theirs := range o.Layout {
				for name, at := range theirs {
					ours, ok := r.Structs[s][name]
					if name == "__size" {
						ours, ok = r.Structs[s][""]
					}
					if !ok {
						continue
					}
					compared++
					if ours != at {
						different++
						fmt.Fprintf(w, "%s: %s.%s is %d, not %d\n", r.Name, s, name, ours, at)
					}
				}
			}
		}
	}
	fmt.Fprintf(w, "%d offsets compared, %d differ\n", compared, different)
	if different > 0 {
		return fmt.Errorf("%d offsets differ", different)
	}
	return nil
}
