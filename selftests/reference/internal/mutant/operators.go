package mutant

import (
	"regexp"
	"strconv"
	"strings"
)

// Mutant is one change of one function.
type Mutant struct {
	File, Function string
	Op             string // the kind of change: see generators
	Line           int
	start, end     int // the range of the file to be replaced
	replacement    string
}

// maker collects the mutants of one function.
type maker struct {
	file     string
	src      string
	function function
	body     []token
	quiet    []bool // of each token of the body: no change there
	alike    map[string]string
	found    []Mutant
}

type generator struct {
	op   string
	make func(*maker)
}

// The kinds of change. Each is a typical mistake.
var generators = []generator{
	{"boundary", (*maker).boundary},     // < for <=
	{"equal", (*maker).equal},           // == for !=
	{"logic", (*maker).logic},           // && for ||
	{"operand", (*maker).operand},       // a for a && b
	{"arithmetic", (*maker).arithmetic}, // - for +
	{"constant", (*maker).constant},     // 2 for 1
	{"guard", (*maker).guard},           // `if (x) return y;` is removed
	{"negate", (*maker).negate},         // if (!(x)) for if (x)
	{"drop", (*maker).drop},             // an assignment or a call is removed
	{"return", (*maker).result},         // return true for return false
	{"minmax", (*maker).minmax},         // a > b ? a : b for a < b ? a : b
	{"member", (*maker).member},         // x->to for x->from
}

// Code without mutants, since their behaviour need not be tested: assertions, log lines, the text
// of error messages.
var quietCalls = regexp.MustCompile(`^(assert|static_assert|_Static_assert|log__\w+|error__\w+|warn|fprintf|fputs)$`)

// Calls that only release something. Without them there is only a leak.
var releases = regexp.MustCompile(`^(free|close|fclose|munmap|prefetch|__builtin_prefetch|log__\w+|error__\w+|` +
	`assert|\w*__?(deinit|destroy|free|close)|free_\w+)$`)

// Out-of-memory handling, and spare capacity of allocations: only a test with another malloc
// detects it.
var allocates = regexp.MustCompile(`^(malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|array__grow|` +
	`map__put|\w+__no_memory|no_memory|ENOMEM|\w+__(create|alloc|new))$`)
var capacity = regexp.MustCompile(`^(\w+_)?cap(acity)?$`)

func (m *maker) add(op string, line, start, end int, replacement string) {
	// the following lines keep their numbers
	gone := strings.Count(m.src[start:end], "\n") - strings.Count(replacement, "\n")
	if gone > 0 {
		replacement += strings.Repeat("\n", gone)
	}
	m.found = append(m.found, Mutant{m.file, m.function.name, op, line, start, end, replacement})
}

func (m *maker) replace(op string, i int, replacement string) {
	t := m.body[i]
	m.add(op, t.line, t.start, t.end, replacement)
}

// is reports whether token i of the body may be changed, and is one of the texts.
func (m *maker) is(i int, texts ...string) bool {
	if m.quiet[i] {
		return false
	}
	for _, t := range texts {
		if m.body[i].text == t {
			return true
		}
	}
	return false
}

func (m *maker) text(i int) string {
	if i < 0 || i >= len(m.body) {
		return ""
	}
	return m.body[i].text
}

// statement returns where the statement of token i begins and ends: after and at a `;`, `{` or `}`.
func (m *maker) statement(i int) (int, int) {
	from, to := i, i
	for from > 0 && m.text(from-1) != ";" && m.text(from-1) != "{" && m.text(from-1) != "}" {
		from--
	}
	for to < len(m.body)-1 && m.text(to) != ";" && m.text(to) != "{" && m.text(to) != "}" {
		to++
	}
	return from, to
}

func (m *maker) has(from, to int, what *regexp.Regexp) bool {
	for i := max(from, 0); i <= to && i < len(m.body); i++ {
		if m.body[i].kind == name && what.MatchString(m.body[i].text) {
			return true
		}
	}
	return false
}

// sizesMemory reports whether the statement of token i determines an amount of memory.
func (m *maker) sizesMemory(i int) bool {
	from, to := m.statement(i)
	return m.has(from, to, allocates) || m.has(from, to, capacity)
}

// compares reports whether the function is a comparison for qsort. Its result for equal elements
// does not matter.
func (m *maker) compares() bool {
	var words []string
	for _, t := range m.function.parameters {
		words = append(words, t.text)
	}
	return strings.HasPrefix(strings.Join(words, " "), "( const void * a , const void * b")
}

func (m *maker) boundary() {
	other := map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
	for i := range m.body {
		if m.is(i, "<", "<=", ">", ">=") && !m.compares() && !m.sizesMemory(i) {
			m.replace("boundary", i, other[m.body[i].text])
		}
	}
}

func (m *maker) equal() {
	other := map[string]string{"==": "!=", "!=": "=="}
	for i := range m.body {
		if m.is(i, "==", "!=") && !m.sizesMemory(i) {
			m.replace("equal", i, other[m.body[i].text])
		}
	}
}

func (m *maker) logic() {
	other := map[string]string{"&&": "||", "||": "&&"}
	for i := range m.body {
		if m.is(i, "&&", "||") && !m.aboutMemory(i) {
			m.replace("logic", i, other[m.body[i].text])
		}
	}
}

// operandEnd returns the last token of the operand that begins at i.
func (m *maker) operandEnd(i int) int {
	for ; i < len(m.body)-1; i++ {
		switch m.text(i) {
		case "(", "[", "{":
			i = match(m.body, i)
		}
		switch m.text(i + 1) {
		case "&&", "||", ")", "]", "}", ";", "?", "?:", ":", ",":
			return i
		}
	}
	return i
}

func (m *maker) operand() {
	for i := range m.body {
		if m.is(i, "&&", "||") && !m.aboutMemory(i) {
			end := m.operandEnd(i + 1)
			m.add("operand", m.body[i+1].line, m.body[i-1].end, m.body[end].end, "")
		}
	}
}

func (m *maker) endsValue(i int) bool {
	if i < 0 {
		return false
	}
	t := m.body[i]
	return (t.kind == name && t.text != "return" && t.text != "case") || t.kind == number ||
		t.text == ")" || t.text == "]"
}

func (m *maker) arithmetic() {
	other := map[string]string{"+": "-", "-": "+", "+=": "-=", "-=": "+="}
	for i := range m.body {
		binary := strings.HasSuffix(m.text(i), "=") || m.endsValue(i-1)
		if m.is(i, "+", "-", "+=", "-=") && binary && !m.sizesMemory(i) {
			m.replace("arithmetic", i, other[m.body[i].text])
		}
	}
}

// constant increments a number. In an initializer of `{}` and in a label that is not possible.
func (m *maker) constant() {
	for i, t := range m.body {
		n, err := strconv.ParseUint(strings.TrimRight(t.text, "ulUL"), 10, 63)
		if t.kind != number || err != nil || m.quiet[i] || m.sizesMemory(i) || m.declares(i) ||
			m.text(i-1) == "case" || m.text(i-1) == "return" {
			continue
		}
		suffix := t.text[len(strings.TrimRight(t.text, "ulUL")):]
		m.replace("constant", i, strconv.FormatUint(n+1, 10)+suffix)
	}
}

// declares reports whether the number i is the size of a declared array.
func (m *maker) declares(i int) bool {
	from, _ := m.statement(i)
	return m.text(i-1) == "[" && m.text(i+1) == "]" && m.text(from) != "return" &&
		m.body[from].kind == name && m.body[min(from+1, i)].kind == name
}

// condition returns the brackets of the `if` at i, and the last token of what it guards.
func (m *maker) condition(i int) (open, end, last int) {
	open = i + 1
	end = match(m.body, open)
	if m.text(end+1) == "{" {
		return open, end, match(m.body, end+1)
	}
	for last = end + 1; last < len(m.body)-1 && m.text(last) != ";"; last++ {
		if b := m.text(last); b == "(" || b == "[" || b == "{" {
			last = match(m.body, last)
		}
	}
	return open, end, last
}

// aboutMemory reports whether the statement of token i, its guarded statement or the one before it
// in the same block allocates memory, and the condition tests for failure.
func (m *maker) aboutMemory(i int) bool {
	from, _ := m.statement(i)
	if m.text(from) == "else" {
		from++
	}
	if m.text(from) != "if" {
		return false
	}
	open, end, last := m.condition(from)
	if m.has(open, min(last, end+12), allocates) {
		return true
	}
	before := from
	for n := 0; n < 2 && before > 1; n++ {
		before, _ = m.statement(before - 1)
	}
	return m.text(open+1) == "!" && m.has(before, from, allocates)
}

func (m *maker) guard() {
	for i := range m.body {
		if !m.is(i, "if") || m.aboutMemory(i) || m.text(i-1) == "else" {
			continue
		}
		_, end, last := m.condition(i)
		switch first := m.text(end + 1); {
		case first == "{" && m.leaves(end+2), first == "return", first == "goto", first == "continue", first == "break":
		default:
			continue
		}
		if m.text(last+1) != "else" {
			m.add("guard", m.body[i].line, m.body[i].start, m.body[last].end, ";")
		}
	}
}

// leaves reports whether the block whose first statement is at i does little and returns.
func (m *maker) leaves(i int) bool {
	for n := 0; n < 3 && i < len(m.body); n++ {
		_, to := m.statement(i)
		switch m.text(i) {
		case "return", "goto", "continue", "break":
			return m.text(to+1) == "}"
		}
		if m.text(to) != ";" {
			return false
		}
		i = to + 1
	}
	return false
}

func (m *maker) negate() {
	for i := range m.body {
		if m.is(i, "if") && !m.aboutMemory(i) {
			open, end, _ := m.condition(i)
			from, to := m.body[open].start, m.body[end].end
			m.add("negate", m.body[i].line, from, to, "(!"+m.src[from:to]+")")
		}
	}
}

// drop removes statements that are a call, an assignment, or a step.
func (m *maker) drop() {
	for i := 1; i < len(m.body)-1; i++ {
		before := m.text(i - 1)
		if before != ";" && before != "{" && before != "}" || m.quiet[i] {
			continue
		}
		from, to := m.statement(i)
		if m.text(to) != ";" || !m.isExpression(from, to) || m.sizesMemory(i) {
			continue
		}
		m.add("drop", m.body[i].line, m.body[from].start, m.body[to].end, ";")
	}
}

var keywords = regexp.MustCompile(`^(if|else|for|while|do|switch|case|default|return|goto|break|continue|` +
	`static|const|struct|union|enum|unsigned|signed|sizeof|typedef)$`)

func (m *maker) isExpression(from, to int) bool {
	first := m.body[from]
	if m.inBrackets(from) || first.kind != name && first.text != "*" && first.text != "++" && first.text != "--" ||
		keywords.MatchString(first.text) || m.text(from+1) == ":" {
		return false
	}
	if m.text(from+1) == "(" {
		return !releases.MatchString(first.text)
	}
	depth, assigns := 0, false
	for i := from; i < to; i++ {
		switch m.text(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case "=", "+=", "-=", "|=", "&=", "++", "--", "<<=", ">>=", "^=", "*=", "/=":
			assigns = assigns || depth == 0
		}
		// `type name = ...` and `type *name = ...` are declarations
		if !assigns && i > from && m.body[i].kind == name && (m.body[i-1].kind == name ||
			m.text(i-1) == "*" && i-1 > from && depth == 0) {
			return false
		}
	}
	return assigns
}

// inBrackets reports whether the token is in brackets, like the parts of `for (...)` and lists of
// values.
func (m *maker) inBrackets(at int) bool {
	depth := 0
	for i := at - 1; i >= 0; i-- {
		switch m.text(i) {
		case ")", "]":
			depth--
		case "(", "[":
			depth++
		}
		if depth > 0 {
			return true
		}
		if m.text(i) == "{" && m.text(i-1) == "=" {
			return true
		}
		if b := m.text(i); depth == 0 && (b == "{" || b == "}") {
			return false
		}
	}
	return false
}

func (m *maker) result() {
	other := map[string]string{"true": "false", "false": "true", "0": "1", "1": "0"}
	for i := range m.body {
		if !m.is(i, "return") || m.aboutMemory(i) {
			continue
		}
		_, to := m.statement(i)
		value := m.text(i + 1)
		switch {
		case to == i+2 && other[value] != "":
			m.replace("return", i+1, other[value])
		case to == i+3 && value == "-" && strings.HasPrefix(m.text(i+2), "E") && m.text(i+2) != "ENOMEM":
			m.add("return", m.body[i].line, m.body[i+1].start, m.body[i+2].end, "0")
		}
	}
}

func (m *maker) minmax() {
	other := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}
	for i := range m.body {
		if !m.is(i, "<", ">", "<=", ">=") || m.sizesMemory(i) {
			continue
		}
		if end := m.operandEnd(i + 1); m.text(end+1) == "?" {
			m.replace("minmax", i, other[m.body[i].text])
		}
	}
}

func (m *maker) member() {
	for i := 2; i < len(m.body); i++ {
		if to := m.alike[m.body[i].text]; to != "" && m.is(i-1, "->", ".") && m.body[i].kind == name &&
			m.endsValue(i-2) && m.text(i+1) != "(" && !m.sizesMemory(i) {
			m.replace("member", i, to)
		}
	}
}

// Members returns a replacement for members of structs: the next member of the same type, or for
// the last one the previous one. A name in several structs refers to the first.
func Members(headers []string) map[string]string {
	alike := map[string]string{}
	for _, src := range headers {
		tokens := lex(src)
		for i := 0; i+2 < len(tokens); i++ {
			if tokens[i].text != "struct" {
				continue
			}
			open := i + 1
			if tokens[open].kind == name {
				open++
			}
			if tokens[open].text == "{" {
				if end := match(tokens, open); end > 0 {
					membersOf(tokens[open+1:end], alike)
				}
			}
		}
	}
	return alike
}

func membersOf(tokens []token, alike map[string]string) {
	var lastType, last string
	for from := 0; from < len(tokens); {
		to := from
		for to < len(tokens) && tokens[to].text != ";" {
			if b := tokens[to].text; b == "{" || b == "(" {
				to = match(tokens, to)
			}
			to++
		}
		var names []string
		typ, plain := "", true
		for i := from; i < to; i++ {
			t := tokens[i]
			next := ";"
			if i+1 < to {
				next = tokens[i+1].text
			}
			switch {
			case t.kind == name && (next == ";" || next == ","):
				names = append(names, t.text)
			case len(names) == 0 && t.text != "*":
				typ += " " + t.text
			case t.text == "*":
				typ += "*"
			}
			plain = plain && (t.kind == name || t.text == "," || t.text == "*")
		}
		if !plain {
			last = ""
		}
		for _, n := range names {
			if !plain {
				break
			}
			if last != "" && typ == lastType {
				if alike[last] == "" {
					alike[last] = n
				}
				if alike[n] == "" {
					alike[n] = last
				}
			}
			last, lastType = n, typ
		}
		from = to + 1
	}
}

// mark excludes the arguments of calls that only report something.
func (m *maker) mark() {
	m.quiet = make([]bool, len(m.body))
	for i := range m.body {
		if m.body[i].kind == name && m.text(i+1) == "(" && quietCalls.MatchString(m.body[i].text) {
			for k := i; k <= match(m.body, i+1); k++ {
				m.quiet[k] = true
			}
		}
	}
}

// File is a parsed source file.
type File struct {
	Path      string
	Functions []Function
	src       string
}

// Function has its mutants by kind of change.
type Function struct {
	Name  string
	Lines int
	ByOp  map[string][]Mutant
}

// Parse finds all mutants of a file; alike is the result of Members.
func Parse(path, src string, alike map[string]string) *File {
	f := &File{Path: path, src: src}
	for _, fn := range functions(lex(src)) {
		m := &maker{file: path, src: src, function: fn, body: fn.body, alike: alike}
		m.mark()
		result := Function{fn.name, fn.body[len(fn.body)-1].line - fn.body[0].line + 1, map[string][]Mutant{}}
		for _, g := range generators {
			m.found = nil
			g.make(m)
			if len(m.found) > 0 {
				result.ByOp[g.op] = m.found
			}
		}
		f.Functions = append(f.Functions, result)
	}
	return f
}

// Apply returns the file with the mutant in it.
func (f *File) Apply(m *Mutant) string {
	return f.src[:m.start] + m.replacement + f.src[m.end:]
}

var space = regexp.MustCompile(`\s+`)

// Change returns the affected lines, before and after, each as one line.
func (f *File) Change(m *Mutant) (before, after string) {
	from := strings.LastIndexByte(f.src[:m.start], '\n') + 1
	to := len(f.src)
	if i := strings.IndexByte(f.src[m.end:], '\n'); i >= 0 {
		to = m.end + i
	}
	line := func(s string) string { return strings.TrimSpace(space.ReplaceAllString(s, " ")) }
	return line(f.src[from:to]), line(f.src[from:m.start] + m.replacement + f.src[m.end:to])
}
