// Offsets prints the offsets of the members of the runtime's structs, from DWARF as parsed by Go's
// own debug/dwarf: userspace/target/layout/offsets_table.c is generated with it, independent of our
// own reader, which uses libdw.
//
//	offsets read PROGRAM                  all structs of package runtime, as JSON
//	offsets member OFFSETS.H PROGRAM      "ID value" a line: what a row for this program would hold
//	offsets table OFFSETS.H JSON...       the C table from files goX.Y.Z.json, one a release
//	offsets compare RANGES JSON...        differences to a list of ranges that others measured
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"gotrace-bpf/selftests/reference/internal/command"
	"gotrace-bpf/selftests/reference/internal/offsets"
)

func read(path string) error {
	structs, err := offsets.Read(path)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(structs)
}

func table(header string, files []string) error {
	members, err := offsets.Members(header)
	if err != nil {
		return err
	}
	releases, err := offsets.Load(files)
	if err != nil {
		return err
	}
	text, err := offsets.Table(members, releases)
	fmt.Print(text)
	return err
}

func member(header, path string) error {
	members, err := offsets.Members(header)
	if err != nil {
		return err
	}
	structs, err := offsets.Read(path)
	if err != nil {
		return err
	}
	row, err := offsets.Row(members, structs)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i, m := range members {
		fmt.Println(m.ID, row[i])
	}
	return nil
}

func compare(ranges string, files []string) error {
	releases, err := offsets.Load(files)
	if err != nil {
		return err
	}
	return offsets.Compare(os.Stdout, releases, ranges)
}

func main() {
	var err error

	switch a := os.Args[1:]; {
	case len(a) == 2 && a[0] == "read":
		err = read(a[1])
	case len(a) == 3 && a[0] == "member":
		err = member(a[1], a[2])
	case len(a) >= 3 && a[0] == "table":
		err = table(a[1], a[2:])
	case len(a) >= 3 && a[0] == "compare":
		err = compare(a[1], a[2:])
	default:
		err = fmt.Errorf("read PROGRAM, member OFFSETS.H PROGRAM, table OFFSETS.H JSON..., or compare RANGES JSON...")
	}
	command.Check(err)
}
