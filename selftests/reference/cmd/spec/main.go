// Spec prints Go's own event table, from the sources of a toolchain, one event per line, for
// comparison with ours.
//
//	spec GOROOT
//
// A line has the number, name, first and last header version, and arguments. The table is in an
// internal package, so its source is parsed and its constants are computed by go/types. Versions:
// an event of the table's dense part is gated by version.go's slices of it; an experimental one is
// after all slices but the last, and its comment gives its version.
package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gotrace-bpf/selftests/reference/internal/command"
)

func main() {
	command.Usage(len(os.Args) == 2, "spec GOROOT")
	print(filepath.Join(os.Args[1], "src/internal/trace"))
}

func print(folder string) {
	s := command.Must(load(filepath.Join(folder, "tracev2")))
	command.Check(s.gates(filepath.Join(folder, "version/version.go")))
	table := command.Must(s.table())
	for _, limit := range []string{"MaxBatchSize", "MaxEventTrailerDataSize", "MaxFramesPerStack", "MaxTimedEventArgs"} {
		value := command.Must(s.constant(limit))
		fmt.Println("limit", value)
	}
	for _, line := range table {
		fmt.Println(line)
	}
}

// source is the table's package, parsed and type-checked.
type source struct {
	files []*ast.File
	pkg   *types.Package
	info  types.Info
	gate  []gate
}

// gate: headers of a version support the events up to last.
type gate struct {
	version int
	last    int64
}

func load(folder string) (*source, error) {
	set := token.NewFileSet()
	s := &source{info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range []string{"events.go", "spec.go"} {
		file := command.Must(parser.ParseFile(set, filepath.Join(folder, name), nil, parser.ParseComments))
		s.files = append(s.files, file)
	}
	var err error
	config := types.Config{}
	s.pkg, err = config.Check("tracev2", set, s.files, &s.info)
	return s, err
}

func (s *source) constant(name string) (int64, error) {
	c, ok := s.pkg.Scope().Lookup(name).(*types.Const)
	if !ok {
		return 0, fmt.Errorf("no constant %s", name)
	}
	value, _ := constant.Int64Val(c.Val())
	return value, nil
}

// gates reads the map of version.go: `Go123: tracev2.Specs()[:tracev2.EvExperimentalBatch+1]`, or the
// whole table. Those of v1 are nil.
func (s *source) gates(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok || err != nil {
			return true
		}
		version, bad := strconv.Atoi(strings.TrimPrefix(fmt.Sprint(entry.Key), "Go1"))
		if bad != nil {
			return true
		}
		switch value := entry.Value.(type) {
		case *ast.CallExpr:
			s.gate = append(s.gate, gate{version, 255})
		case *ast.SliceExpr:
			last := value.High.(*ast.BinaryExpr).X.(*ast.SelectorExpr).Sel.Name
			var number int64
			number, err = s.constant(last)
			s.gate = append(s.gate, gate{version, number})
		}
		return true
	})
	if err == nil && len(s.gate) == 0 {
		err = fmt.Errorf("%s: no versions", path)
	}
	slices.SortFunc(s.gate, func(a, b gate) int { return a.version - b.version })
	return err
}

var added = regexp.MustCompile(`Added in Go 1\.(\d+)`)

// since returns the version that a constant's comment, or that of its group, gives for its
// addition.
func (s *source) since(name string) int {
	found := 0
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				return true
			}
			version := 0
			for _, spec := range decl.Specs {
				value := spec.(*ast.ValueSpec)
				if value.Doc != nil {
					version = 0
					if m := added.FindStringSubmatch(value.Doc.Text()); m != nil {
						version, _ = strconv.Atoi(m[1])
					}
				}
				if value.Names[0].Name == name {
					found = version
				}
			}
			return false
		})
	}
	return found
}

// event is a row of Go's table.
type event struct {
	number     int64
	name       string
	args       []string
	flags      map[string]bool
	stacks     []int64
	strings    []int64
	start      int64
	experiment int64
}

// table returns the lines, by number.
func (s *source) table() ([]string, error) {
	var specs *ast.CompositeLit
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && v.Names[0].Name == "specs" {
				specs = v.Values[0].(*ast.CompositeLit)
			}
			return specs == nil
		})
	}
	if specs == nil {
		return nil, fmt.Errorf("no table specs")
	}
	var events []event
	names := map[int64]string{}
	for _, row := range specs.Elts {
		row := row.(*ast.KeyValueExpr)
		ev := s.event(row.Value.(*ast.CompositeLit))
		ev.number = s.number(row.Key)
		events = append(events, ev)
		names[ev.number] = ev.name
	}
	slices.SortFunc(events, func(a, b event) int { return int(a.number - b.number) })
	var lines []string
	for _, ev := range events {
		lines = append(lines, s.line(ev, names))
	}
	return lines, nil
}

func (s *source) number(e ast.Expr) int64 {
	value, _ := constant.Int64Val(s.info.Types[e].Value)
	return value
}

func (s *source) numbers(e ast.Expr) (list []int64) {
	for _, element := range e.(*ast.CompositeLit).Elts {
		list = append(list, s.number(element))
	}
	slices.Sort(list)
	return list
}

func (s *source) event(row *ast.CompositeLit) event {
	ev := event{flags: map[string]bool{}}
	for _, field := range row.Elts {
		field := field.(*ast.KeyValueExpr)
		switch key := fmt.Sprint(field.Key); key {
		case "Name":
			ev.name = constant.StringVal(s.info.Types[field.Value].Value)
		case "Args":
			for _, arg := range field.Value.(*ast.CompositeLit).Elts {
				ev.args = append(ev.args, constant.StringVal(s.info.Types[arg].Value))
			}
		case "StringIDs":
			ev.strings = s.numbers(field.Value)
		case "StackIDs":
			ev.stacks = s.numbers(field.Value)
		case "StartEv":
			ev.start = s.number(field.Value)
		case "Experiment":
			ev.experiment = s.number(field.Value)
		default:
			ev.flags[key] = constant.BoolVal(s.info.Types[field.Value].Value)
		}
	}
	return ev
}

func (s *source) line(ev event, names map[int64]string) string {
	newest := s.gate[len(s.gate)-1].version
	since := newest
	for _, g := range slices.Backward(s.gate) {
		if ev.number <= g.last {
			since = g.version
		}
	}
	experiment := ""
	if ev.experiment != 0 {
		experiment = s.experiment(ev.experiment)
		since = s.since("Ev" + ev.name)
	}
	var args []string
	for _, arg := range ev.args {
		args = append(args, arg+":"+argType(arg))
	}
	return fmt.Sprintf("%d %s since=%d until=%d timed=%t data=%t frames=%t experiment=%s start=%s args=%s stacks=%v strings=%v",
		ev.number, ev.name, since, newest, ev.flags["IsTimedEvent"], ev.flags["HasData"], ev.flags["IsStack"],
		experiment, names[ev.start], strings.Join(args, ","), ev.stacks, ev.strings)
}

// experiment returns the name of the constant of type Experiment with that value.
func (s *source) experiment(value int64) string {
	for _, name := range s.pkg.Scope().Names() {
		c, ok := s.pkg.Scope().Lookup(name).(*types.Const)
		if !ok || !strings.HasSuffix(c.Type().String(), ".Experiment") {
			continue
		}
		if v, _ := constant.Int64Val(c.Val()); v == value {
			return name
		}
	}
	return "unknown"
}

// argType derives an argument's type from its name: its last word, if that is one of Go's types;
// plain numbers all count as one type.
func argType(name string) string {
	last := name[strings.LastIndex(name, "_")+1:]
	switch last {
	case "seq", "pstatus", "gstatus", "g", "m", "p", "string", "stack", "task":
		return last
	}
	return "number"
}
