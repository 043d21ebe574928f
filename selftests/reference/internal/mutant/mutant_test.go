package mutant

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

// changes returns the changed lines of the only function, as "OP: AFTER".
func changes(t *testing.T, body string, ops ...string) []string {
	t.Helper()
	alike := Members([]string{"struct span { unsigned long from, to; int n; };"})
	f := Parse("x.c", "static int f(struct span *s, int n)\n{\n"+body+"\n}\n", alike)
	if len(f.Functions) != 1 {
		t.Fatalf("%d functions in %q", len(f.Functions), body)
	}
	var found []string
	for _, m := range f.All(0, "") {
		if slices.Contains(ops, m.Op) {
			_, after := f.Change(&m)
			found = append(found, m.Op+": "+after)
		}
	}
	sort.Strings(found)
	return found
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	sort.Strings(want)
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOperators(t *testing.T) {
	expect(t, changes(t, "	if (n > 3 && s->to != 0)\n		return 1;", "boundary", "equal", "logic", "operand"),
		"boundary: if (n >= 3 && s->to != 0)",
		"equal: if (n > 3 && s->to == 0)",
		"logic: if (n > 3 || s->to != 0)",
		"operand: if (n > 3)")
	expect(t, changes(t, "	if (n)\n		return 1;", "guard", "negate", "return"),
		"guard: ;", "negate: if (!(n))", "return: return 0;")
	expect(t, changes(t, "	if (n) {\n		s->n = 1;\n		return -EINVAL;\n	}", "guard", "return"),
		"guard: ;", "return: return 0;")
	expect(t, changes(t, "	n = n < 7 ? s->from + 1 : 7;", "minmax", "member", "arithmetic", "constant"),
		"minmax: n = n > 7 ? s->from + 1 : 7;",
		"member: n = n < 7 ? s->to + 1 : 7;",
		"arithmetic: n = n < 7 ? s->from - 1 : 7;",
		"constant: n = n < 8 ? s->from + 1 : 7;",
		"constant: n = n < 7 ? s->from + 2 : 7;",
		"constant: n = n < 7 ? s->from + 1 : 8;")
	expect(t, changes(t, "	s->n = 4;\n	call(s);\n	s->n++;\n	*x = 1;", "drop"),
		"drop: ;", "drop: ;", "drop: ;", "drop: ;")
}

// No mutants are made of code whose change no unit test can detect.
func TestLeftAlone(t *testing.T) {
	all := []string{"boundary", "equal", "logic", "operand", "arithmetic", "constant", "guard", "negate", "drop",
		"return", "minmax", "member"}

	expect(t, changes(t, "	assert(n < 3 && n != 1);\n	log__debug(\"%d\", n + 1);\n	free(s);", all...))
	expect(t, changes(t, "	s = malloc(n + 1);\n	if (!s)\n		return -ENOMEM;", all...))
	expect(t, changes(t, "	if (array__grow(&s, n, &cap, 8))\n		goto fail;", all...))
	expect(t, changes(t, "	/* n < 3 */\n	const char *x = \"n < 3\"; // n < 3", all...))
	expect(t, changes(t, "	int x[4], y = n;\n	struct span *z = s;", all...))
}

func TestFunctions(t *testing.T) {
	src := "#define F(x) { x < 1 }\nstatic const int table[] = { 1, 2 };\nint a(void);\n" +
		"__attribute__((format(printf, 1, 2)))\nint a(void) { return 0; }\nstruct s { int n; };\n" +
		"static void b(int (*f)(int))\n{\n	if (1) { f(0); }\n}\n"
	var names []string
	for _, fn := range functions(lex(src)) {
		names = append(names, fn.name)
	}
	expect(t, names, "a", "b")
}

// A change of one function does not affect the selection in the others, and a seed always selects
// the same.
func TestPickIsStable(t *testing.T) {
	const a, b = "int a(int n) { return n < 3 && n > 1; }\n", "int b(int n) { if (n != 2) return 5 + n; return 0; }\n"
	pick := func(src, function string, seed uint64) string {
		f := Parse("userspace/x/x.c", src, nil)
		folders, _ := Candidates([]*File{f}, seed)
		for _, c := range folders["userspace/x"] {
			if c.Name == function {
				_, after := f.Change(&c.Mutants[0])
				return after
			}
		}
		return ""
	}
	differ := false
	for seed := uint64(1); seed < 20; seed++ {
		first := pick(b, "b", seed)
		if second := pick(a+b, "b", seed); first != second || first == "" {
			t.Errorf("seed %d: %q, then %q", seed, first, second)
		}
		differ = differ || first != pick(b, "b", seed+1)
	}
	if !differ {
		t.Error("all seeds pick the same")
	}
}

func TestShares(t *testing.T) {
	shares := Shares(map[string]int{"a": 690, "b": 205, "c": 105}, 15)
	if shares["a"] != 10 || shares["b"] != 3 || shares["c"] != 2 {
		t.Errorf("got %v", shares)
	}
}
