// Package offsets reads struct offsets of the Go runtime and writes the table of userspace/target.
package offsets

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Structs are the offsets of all members of all structs of package runtime; member "" has the
// struct's size.
type Structs map[string]map[string]int64

// Release has the offsets of one toolchain's program.
type Release struct {
	Name         string
	Minor, Patch int
	Structs      Structs
}

// Member is one line of the list OFFSETS in userspace/target/infer/offsets.h.
type Member struct {
	ID, Struct, Name, OldName string
	Renamed, Since            int
}

// None is the value of a member that a release does not have.
const None = -1

// Read reads a program's DWARF.
func Read(path string) (Structs, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	structs := Structs{}
	for r := d.Reader(); ; {
		entry, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if entry == nil {
			break
		}
		if entry.Tag == dwarf.TagCompileUnit {
			if name, _ := entry.Val(dwarf.AttrName).(string); name != "runtime" {
				r.SkipChildren()
			}
			continue
		}
		name, _ := entry.Val(dwarf.AttrName).(string)
		if entry.Tag != dwarf.TagStructType || !strings.HasPrefix(name, "runtime.") {
			r.SkipChildren()
			continue
		}
		size, _ := entry.Val(dwarf.AttrByteSize).(int64)
		members := map[string]int64{"": size}
		for entry.Children {
			child, err := r.Next()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if child == nil || child.Tag == 0 {
				break
			}
			at, ok := child.Val(dwarf.AttrDataMemberLoc).(int64)
			if member, _ := child.Val(dwarf.AttrName).(string); child.Tag == dwarf.TagMember && ok {
				members[member] = at
			}
			r.SkipChildren()
		}
		structs[name] = members
	}
	if structs["runtime.g"] == nil {
		return nil, fmt.Errorf("%s: its DWARF has no runtime.g", path)
	}
	return structs, nil
}

var releaseName = regexp.MustCompile(`^go1\.(\d+)(?:\.(\d+))?\.json$`)

// Load reads files goX.Y.Z.json, and returns the oldest release first.
func Load(files []string) ([]Release, error) {
	var releases []Release
	for _, file := range files {
		name := filepath.Base(file)
		m := releaseName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("%s is not named after a release", file)
		}
		r := Release{Name: strings.TrimSuffix(name, ".json")}
		r.Minor, _ = strconv.Atoi(m[1])
		r.Patch, _ = strconv.Atoi(m[2])
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &r.Structs)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		releases = append(releases, r)
	}
	sort.Slice(releases, func(i, k int) bool {
		a, b := releases[i], releases[k]
		return a.Minor < b.Minor || a.Minor == b.Minor && a.Patch < b.Patch
	})
	return releases, nil
}

var memberLine = regexp.MustCompile(
	`X\((\w+),\s*"([\w.]+)",\s*"(\w+)",\s*(?:NULL|"(\w+)"),\s*(\d+),\s*(\d+)\)`)

// Members reads the list OFFSETS.
func Members(header string) ([]Member, error) {
	text, err := os.ReadFile(header)
	if err != nil {
		return nil, err
	}
	var members []Member
	for _, m := range memberLine.FindAllStringSubmatch(string(text), -1) {
		renamed, _ := strconv.Atoi(m[5])
		since, _ := strconv.Atoi(m[6])
		members = append(members, Member{m[1], m[2], m[3], m[4], renamed, since})
	}
	// Each "X(" except the three that define and use the macros must have been parsed.
	if n := strings.Count(string(text), "\n\tX("); n == 0 || n != len(members) {
		return nil, fmt.Errorf("%s: %d members, of which %d are understood", header, n, len(members))
	}
	return members, nil
}

func (m Member) of(s Structs) (int64, bool) {
	at, ok := s[m.Struct][m.Name]
	if !ok && m.OldName != "" {
		at, ok = s[m.Struct][m.OldName]
	}
	return at, ok
}

// Row is a program's value for each member; a member that it lacks is an error unless `since`
// allows for it, which depends on the release: see Table.
func Row(members []Member, s Structs) ([]int64, error) {
	row := make([]int64, len(members))
	for i, m := range members {
		at, ok := m.of(s)
		if !ok {
			at = None
			if m.Since == 0 {
				return nil, fmt.Errorf("no member %s of %s", m.Name, m.Struct)
			}
		}
		row[i] = at
	}
	return row, nil
}
