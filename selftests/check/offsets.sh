#!/bin/bash
# Tests struct offsets of the runtime: the built-in table against the DWARF of programs (as Go's
# reader parses it), and programs whose debug info is stripped, split off or corrupt.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"

table_has() # GO: its row equals the DWARF of a program built with it; members in the order of OFFSETS
{
	build/reference/offsets member userspace/target/infer/offsets.h "build/targets/$1/tiny" \
		>"$tmp/dwarf" || return 1
	table_row "$1" >"$tmp/table" || return 1
	# Without a coroutine the program has no runtime.coro.
	sed -i '/^CORO_GP /d' "$tmp/dwarf" "$tmp/table"
	[ "$(wc -l <"$tmp/table")" -ge 28 ] && diff "$tmp/dwarf" "$tmp/table"
}

table_row() # prints one line "ID value" per member of the row
{
	awk -v release="${1#go}" '
		BEGIN { split(release, r, ".") }
		/^\t\{ [0-9]+, [0-9]+, [0-9]+, \{$/ {
			gsub(/[{,]/, " ")
			inside = $1 == r[2] && $2 <= r[3] + 0 && $3 >= r[3] + 0
			found = found || inside
		}
		inside {
			for (i = 1; i < NF; i++)
				if ($i ~ /^\[OFF_/) {
					value = $(i + 2)
					sub(/,/, "", value)
					print substr($i, 6, length($i) - 6), value == "NO" ? -1 : value
				}
		}
		END { exit !found }' userspace/target/layout/offsets_table.c
}

build_tiny() # FILE FLAGS...: with $ORACLE_GO
{
	(cd selftests/targets && CGO_ENABLED=0 GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" build -buildvcs=false \
		-o "$OLDPWD/$1" "${@:2}" ./tiny)
}

offsets_of() # PROGRAM: the sources of the offsets, as doctor reports them
{
	local pid

	: >"$tmp/tiny.out" # here, not in the child, so that no old line is found
	"$1" -duration 60s >"$tmp/tiny.out" 2>&1 &
	pid=$!
	background+=("$pid")
	wait_until 20 grep -q '^pid' "$tmp/tiny.out" || return 1
	sleep 0.1	# the runtime's own goroutines
	# Ignore cached results of an earlier analysis.
	rm -rf "$tmp/cache"
	XDG_CACHE_HOME=$PWD/$tmp/cache $GOTRACE doctor -p $pid --json | jq -r '.checks[] | "\(.result) \(.what) \(.text)"' |
		grep -E '^(ok|note|missing) (offsets|target) '
	kill -KILL $pid
	wait $pid 2>/dev/null
	return 0
}

says() # PROGRAM TEXT...
{
	local program=$1 text
	shift

	offsets_of "$program" >"$tmp/says"
	cat "$tmp/says"
	for text in "ok offsets " "$@"; do
		grep -qF -- "$text" "$tmp/says" || { echo "does not say: $text"; return 1; }
	done
}

silent_about() # TEXT: the last output does not contain TEXT
{
	grep -q '^ok offsets' "$tmp/says" && ! grep -F -- "$1" "$tmp/says"
}

split_off() # moves debug info and symbols of $tmp/split into $tmp/split.debug
{
	objcopy --only-keep-debug "$tmp/split" "$tmp/split.debug" &&
		objcopy --strip-debug --strip-unneeded --add-gnu-debuglink="$tmp/split.debug" "$tmp/split" &&
		! readelf -SW "$tmp/split" | grep -qE '\.debug_info|\.symtab'
}

by_build_id() # the debug file at its path below the process's own root, which differs from the host's
{
	local id root=$tmp/root

	id=$(readelf -n "$tmp/split" | sed -n 's/.*Build ID: //p')
	[ ${#id} -gt 8 ] || { echo "no build id"; return 1; }
	mkdir -p "$root/usr/lib/debug/.build-id/${id:0:2}" &&
		cp "$tmp/split" "$root/tiny" &&
		mv "$tmp/split.debug" "$root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" || return 1
	printf '#!/bin/sh\nexec chroot "%s" /tiny "$@"\n' "$root" >"$tmp/in-root"
	chmod +x "$tmp/in-root"
	says "$tmp/in-root" "DWARF" "debug file: /proc/" "/root/usr/lib/debug/.build-id/"
}

other_debug_file() # its checksum differs from that of the link, so it must be ignored
{
	cp "$tmp/split.debug" "$tmp/right.debug" && printf x >>"$tmp/split.debug" &&
		offsets_of "$tmp/split" >"$tmp/says"
	mv "$tmp/right.debug" "$tmp/split.debug"
	cat "$tmp/says"
	! grep -F "debug file" "$tmp/says" && grep -qE '^(missing|ok) (offsets|target)' "$tmp/says"
}

damaged() # overwrites the first bytes of the section, its compression header
{
	local at

	cp "build/targets/$ORACLE_GO/tiny" "$tmp/damaged"
	at=$((16#$(readelf -SW "$tmp/damaged" | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')))
	[ "$at" -gt 0 ] && printf 'damage damage damage' |
		dd of="$tmp/damaged" bs=1 seek="$at" conv=notrunc status=none &&
		says "$tmp/damaged" "DWARF cannot be read" "the table of releases"
}

ktap_start
for go in $TARGET_GOS; do
	try "the table has the offsets of $go" table_has "$go"
done
try "a program with DWARF and symbols" says "build/targets/$ORACLE_GO/tiny" \
	"DWARF" "the table of releases agree" "globals: symbol table"
try "no warning" silent_about note
try "-ldflags=-w builds" build_tiny "$tmp/nodwarf" -ldflags=-w
try "-ldflags=-w: the table and the symbols" says "$tmp/nodwarf" "the table of releases" "symbol table"
try "-ldflags=-s builds" build_tiny "$tmp/stripped" -ldflags=-s
try "-ldflags=-s: the table and machine code" says "$tmp/stripped" "machine code (" "the table of releases agree" \
	"globals: machine code;"
try "a program with a build id builds" build_tiny "$tmp/split" -ldflags=-B=0x0123456789abcdef0123
try "the debug info is split off" split_off
try "a debug file next to the program, by its link" says "$tmp/split" "DWARF" "split.debug"
try "a debug file with another checksum is ignored" other_debug_file
try "a debug file below the process's root, by its build ID" by_build_id
try "corrupt DWARF is ignored without a crash" damaged
ktap_end
