#!/bin/bash
# Runs the targets of `make help` that no other script runs, each in a short form; check/make.sh has the
# list of all targets.
# tier: all
# timeout: 1800
# depends on: Makefile bpf include userspace debian selftests README.md
. "$(dirname "$0")/../lib.sh"

# ARGUMENT...: its output is in $tmp/made. Logs of a runner that it starts do not replace those of this one.
made()
{
	local status

	SELFTESTS_LOG=$PWD/$tmp/log make --no-print-directory "$@" >"$tmp/made" 2>&1 </dev/null
	status=$?
	tail -n 40 "$tmp/made"
	return $status
}

prints() # PATTERN...: a line of that output matches each of them
{
	local pattern

	for pattern; do
		grep -qE -- "$pattern" "$tmp/made" || { echo "no line matches: $pattern"; return 1; }
	done
}

made_bpf()
{
	local skeletons

	made bpf && skeletons=$(make -s print-SKELETON) && [ "$(wc -w <<<"$skeletons")" -ge 7 ] &&
		ls -l $skeletons # word splitting is intended
}

installed()
{
	local root=$PWD/$tmp/root page

	made install install_service "DESTDIR=$root" PREFIX=/usr || return 1
	for page in userspace/man/*.[1-9]; do
		[ -s "$root/usr/share/man/man${page##*.}/$(basename "$page")" ] || { echo "not installed: $page"; return 1; }
	done
	[ "$("$root/usr/bin/gotrace" --version)" = "gotrace $(our_version)" ] &&
		[ "$("$root/usr/bin/gotrace-bpf" --version)" = "gotrace-bpf $(our_version)" ] &&
		[ -s "$root/usr/lib/systemd/system/gotrace-bpf.service" ] && [ -s "$root/etc/gotrace-bpf.conf.example" ] && grep -q "^u gotrace-bpf " "$root/usr/lib/sysusers.d/gotrace-bpf.conf"
}

# A package whose library is another one is refused, and nothing is installed.
other_engine()
{
	local tree=$tmp/deps

	mkdir -p "$tree/selftests" "$tmp/package" && cp selftests/deps-engine.sh "$tree/selftests/" && echo other >"$tmp/package/libduckdb.so" &&
		tar -C "$tmp" -czf "$tmp/other.tgz" package &&
		echo "fetch_npm() { cp '$PWD/$tmp/other.tgz' \"\$3\"; }" >"$tree/selftests/npm.lib.sh" || return 1
	! bash "$tree/selftests/deps-engine.sh" >"$tmp/made" 2>&1 && grep 'libduckdb.so is not the expected file$' "$tmp/made" && ! ls "$tree"/build/lib/*
}

demonstrated()
{
	local positive='[1-9][0-9.]*'

	made demo && prints "^A Go server \($ORACLE_GO, process $positive\) is running" \
		'^Validation by Go.s own reader:' '^Goroutine time by CPU state' "^events  *$positive in $positive generations, from $positive records" \
		'^lost  *[0-9]+$' "^attaching  *$positive ms" "^probe hits  *$positive" \
		"^recorder  *$positive ms of CPU time \($positive % of a CPU\), $positive MiB peak memory" '^To open the trace: '
}

faults() # in each mode of the recorder, one of the faults
{
	FAULTS=crashes made faults PARTS=faults_target &&
		prints '^FAULT +MODE +PROBES' '^[1-9][0-9]* faults, 0 of them with wrong results' &&
		[ "$(grep -cE '^the target crashes: SIGSEGV +[a-z]+ +none +[1-9][0-9]* answers, status 2 .* ok ' "$tmp/made")" -eq 7 ]
}

# Too short for the limits of a whole run, and on a machine that may be busy: times are not compared.
fidelity()
{
	local go=${ORACLE_GO#go}
	local report="[1-9][0-9]* of [1-9][0-9]* goroutines, [1-9][0-9]* of [1-9][0-9]* transitions, time p99 [0-9]+ ns"

	REPORTS=$PWD/$tmp/fidelity SERVER_SECONDS=3 SELF_SECONDS=3 FIDELITY_SERVERS=mochi-mqtt \
		FIDELITY_LIMITS="-goroutines 100 -transitions 5000 -identical 99 -p 99 -m 99 -waker 99 -procs 99 -stacks 99 -class-stacks 5
			-time-p99 0 -outliers-quiet 100 -outliers-busy 100" \
		made fidelity "FIDELITY_GOS=$go" &&
		prints "^$go.selftrace-quiet.1: $report" "^$go.selftrace.1: $report" "^$go.mochi-mqtt.1: $report" "^$go.truth.1: [1-9][0-9]* counts" &&
		grep -F "| $go |" "$tmp/fidelity.md"
}

# Of one file, with one unit test; the library for all tests is linked.
mutants()
{
	selftests/mutants/run -u sequence/test_merge -n 4 userspace/sequence/merge.c >"$tmp/made" 2>&1
	tail -n 20 "$tmp/made"
	prints '^userspace/sequence: [1-4] of 4 caught' '^4 mutants, [1-4] caught, [0-3] survived, [0-9]+ did not compile' &&
		! grep -F 'fails without a mutant' "$tmp/made"
}

# Of one toolchain: the rows of the table are those of the releases that changed a value.
offsets()
{
	local go=${TARGET_GOS##* } minor patch row

	made build/reference/offsets && selftests/offsets/extract --table "$go" >"$tmp/table.c" || return 1
	IFS=. read -r _ minor patch <<<"${go#go}"
	row=$(grep -cE "^	\{ $minor, $patch, $patch, \{$" "$tmp/table.c")
	[ "$row" -eq 1 ] || { head -n 40 "$tmp/table.c"; return 1; }
	# the values of the release in the table of the tree, which may be those of several releases
	diff <(values_of "$minor" "$patch" <"$tmp/table.c") <(values_of "$minor" "$patch" <userspace/target/layout/offsets_table.c)
}

values_of() # MINOR PATCH: of the row that contains the release
{
	awk -v minor="$1" -v patch="$2" '
		/^\t\{ [0-9]+, [0-9]+, [0-9]+, \{$/ {
			gsub(/[{,]/, " ")
			inside = $1 == minor && $2 <= patch && $3 >= patch
			next
		}
		inside && /^\t\} \}/ { inside = 0 }
		inside { print; n++ }
		END { if (n < 5) print "no row with " minor "." patch " from the line " NR }'
}

ktap_start
try "make bpf" made_bpf
try "make install install_service" installed
try "make deps installs nothing" made deps && try "it prints nothing" diff "$tmp/made" /dev/null
try "make deps refuses another SQL engine" other_engine
try "make demo" demonstrated
try "make test" made test PARTS=lib/test_map && try "it passes" prints '^[1-9][0-9]* passed, 0 failed$'
try "make faults" faults
try "make fidelity" fidelity
try "make mutants" mutants
try "make offsets" offsets
SOAK='80 12 1' try "make soak" made soak && try "it passes" prints '^[1-9][0-9]* passed, 0 failed$'
ktap_end
