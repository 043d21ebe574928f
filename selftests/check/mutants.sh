#!/bin/bash
# Tests selftests/mutants/run, the program behind `make mutants`, in a tree of one source file and
# one unit test: a mutant that the test detects is caught, one that it does not detect or that
# changes nothing survives, and the source is restored.
# tier: all
# parallel
# timeout: 120
# depends on: Makefile selftests/reference selftests/mutants
. "$(dirname "$0")/../lib.sh"

ktap_start 7
mutants=$PWD/build/reference/mutants
tree=$PWD/$tmp/tree
cc="cc -O1 -fPIC"

# A minimal version of the library as the Makefile builds it for `make mutants`
make_tree()
{
	local out=$tree/build/mutants

	mkdir -p "$out/instrumented" "$out/selftests/unit" "$tree/userspace/format" "$tree/selftests/mutants"
	cp "$tmp/lib.c" "$tree/userspace/format/lib.c"
	printf '#!/bin/sh\nexec %s "$@"\n' "$cc" >"$out/cc"
	chmod +x "$out/cc"
	$cc -shared -Wl,-soname,libgotrace.so "$tmp/lib.c" -o "$out/libgotrace.so" || return 1
	$cc -finstrument-functions -shared -Wl,-soname,libgotrace.so \
		"$tmp/lib.c" selftests/mutants/reach.c -o "$out/instrumented/libgotrace.so" || return 1
	$cc -shared -Wl,-soname,libplanted.so -x c /dev/null -o "$out/libplanted.so" || return 1
	$cc "$tmp/test.c" -Wl,--no-as-needed,--enable-new-dtags,-rpath,"$out" \
		"$out/libplanted.so" "$out/libgotrace.so" -o "$out/selftests/unit/test_lib"
}

cat >"$tmp/lib.c" <<'SOURCE'
int larger(int a, int b);
int spin(int n);
int unseen(int a);

static int twice(int a)
{
	return a + a;
}

int larger(int a, int b)
{
	if (a < b)
		return twice(b);
	return twice(a);
}

int spin(int n)
{
	int i = 0;

	while (i != n)
		i += 1;
	return i;
}

int unseen(int a)
{
	return a + 7;
}
SOURCE
cat >"$tmp/test.c" <<'SOURCE'
int larger(int a, int b);
int spin(int n);

int main(void)
{
	return larger(3, 5) != 10 || larger(5, 3) != 10 || spin(9) != 9;
}
SOURCE

# PLACE LAST PATTERN...: checks the closing line for the mutants at PLACE, and that other lines
# match
planted()
{
	local place=$1 last=$2 pattern
	shift 2

	(cd "$tree" && "$mutants" -j 1 --only "userspace/format/lib.c:$place") >"$tmp/out" 2>&1
	tail -n 1 "$tmp/out" | grep -qxF "$last" || { cat "$tmp/out"; return 1; }
	for pattern; do
		grep -qxF "$pattern" "$tmp/out" || { cat "$tmp/out"; return 1; }
	done
}

try "the small tree builds" make_tree
try "a mutant in a static function is caught" planted 7:arithmetic \
	"1 mutants, 1 caught, 0 survived, 0 did not compile (100.0 %)"
try "an equivalent mutant survives" planted 12:boundary \
	"1 mutants, 0 caught, 1 survived, 0 did not compile (0.0 %)" \
	"userspace/format/lib.c:12: if (a < b) -> if (a <= b) [boundary]"
try "an endless loop is caught" planted 21:equal \
	"1 mutants, 1 caught, 0 survived, 0 did not compile (100.0 %)"
try "a function without a test is reported" planted 28:constant \
	"1 mutants, 0 caught, 1 survived, 0 did not compile (0.0 %)" \
	"	no unit test calls unseen"
printf '%s\n\t%s\n' "userspace/format/lib.c: if (a < b) -> if (a <= b)" "of equal ones either is the larger" \
	>"$tree/selftests/mutants/accepted"
try "a survivor is printed with its reason" planted 12:boundary \
	"1 mutants, 0 caught, 1 survived, 0 did not compile (0.0 %)" \
	"	accepted: of equal ones either is the larger"
try "the source is restored, and no other file is left" bash -c \
	'cmp "$1/lib.c" "$2/userspace/format/lib.c" && ! ls -d "$2"/build/mutants/work-* 2>/dev/null' - "$tmp" "$tree"
ktap_end
