#!/bin/bash
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/symbols
# Tests symbolization: functions, files, lines and inlined frames of any PC match the program's own
# runtime and `go tool addr2line`; those of C code match its compiler.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/symbols.lib.sh

stripped_pie() # GO
{
	build_symbols "$1" 0 "$tmp/pie" -buildmode=pie "-ldflags=-s -w" &&
		same_as_runtime "$tmp/pie" 5
}

# A single wrong frame is detected: here the program is not the one that ran.
notices()
{
	build/targets/"$ORACLE_GO"/symbols -stride 50 >"$tmp/runtime" </dev/null || return 1
	sed -i '2000s/:/:1/' "$tmp/runtime"
	read -ra words <"$tmp/runtime"
	$FRAMES build/targets/"$ORACLE_GO"/symbols "${words[@]:1}" >"$tmp/ours" &&
		[ "$(diff "$tmp/runtime" "$tmp/ours" | grep -c '^[<>]')" = 2 ]
}

# Goroutine 1 calls C, which calls Go, which blocks: between the two Go parts of its stack are C
# frames with functions and lines. In the stripped program only the exported function has a name.
c_frames() # FILE FUNCTION...
{
	local file=$1 name
	shift

	mkdir -p "$tmp/go" && cp "$file" "$tmp/go/symbols" && rm -rf build/targets/"$$" &&
		ln -s "$PWD/$tmp/go" build/targets/"$$" || return 1
	record_target symbols $$ "" -calls 20
	status=$?
	rm -f build/targets/"$$"
	[ $status -eq 0 ] && check_trace "$RECORDED" || return 1
	go_trace "$ORACLE_GO" -d=parsed "$RECORDED" >"$tmp/parsed" || return 1
	for name; do
		[ "$(grep -A1 "$name @" "$tmp/parsed" | grep -c "$C_LINE")" -ge 20 ] ||
			{ echo "no frame $name with $C_LINE"; return 1; }
	done
}

with_lines()
{
	build_symbols "$ORACLE_GO" 1 "$tmp/cgo" -ldflags=-linkmode=external &&
		C_LINE='_cgo_export.c:[1-9]' c_frames "$tmp/cgo" call_go &&
		C_LINE='symbols/cgo.go:[1-9]' c_frames "$tmp/cgo" below _Cfunc_through_c
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each PC matches the runtime" same_as_runtime build/targets/"$go"/symbols 1
	try "$go: functions and lines match addr2line" \
		same_as_addr2line build/targets/"$go"/symbols "$go" 97
	try "$go: a stripped PIE" stripped_pie "$go"
done
note "$PCS PCs compared"
try "a difference is detected" notices
try "C frames have functions and lines" with_lines
ktap_end
