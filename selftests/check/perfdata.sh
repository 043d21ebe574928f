#!/bin/bash
# Tests the reader of perf.data: every scheduler event matches `perf script`, in each way that perf
# records. Truncated files and other files are rejected in one line, by the reader built with
# sanitizers.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/perfdata
. "$(dirname "$0")/../lib.sh"

built()
{
	selftests/deps.sh linux-perf && locked make --no-print-directory build/selftests/perfdata &&
		locked make --no-print-directory SAN=1 build/san/selftests/perfdata
}

work='for i in 1 2 3 4 5 6 7 8 9; do (printf "a (9) name=" >/proc/self/comm; sleep 0.01) & done; wait
	for i in $(seq 60); do /bin/true; done'

# FILE ARGUMENT...: runs perf with the arguments; the output of a pipe becomes FILE
record()
{
	local file=$1
	shift

	case " $* " in
	*" -o - "*) timeout 60 perf "$@" -- sh -c "$work" 2>"$tmp/perf.err" >"$file" ;;
	*) timeout 60 perf "$@" -o "$file" -- sh -c "$work" 2>"$tmp/perf.err" ;;
	esac || { cat "$tmp/perf.err"; return 1; }
}

# perf script prints other events in varying forms.
without_strange_fields()
{
	awk '$5 !~ /^sched_(switch|process_fork|process_exit|waking|wakeup|wakeup_new|migrate_task|stat_.*)$/ {
			$0 = $1 " " $2 " " $3 " " $4 " " $5 } { print }'
}

# FILE: prints what differs, and the first of these events as it is in the file, with the counters of
# its group
explain_difference()
{
	local time

	head -n 20 "$tmp/diff"
	time=$(sed -n 's/^[<>] \([0-9]*\) .*/\1/p' "$tmp/diff" | head -n 1)
	timeout 120 perf script -D -i "$1" 2>/dev/null | grep -a -F -A 10 " $time 0x" | head -n 40
}

# FILE: sets EVENTS. perf script orders events of the same time in its own way.
same_events()
{
	timeout 120 perf script -F pid,tid,cpu,time,event,trace --ns -i "$1" 2>"$tmp/script.err" |
		awk -f selftests/perfdata/script.awk | sort >"$tmp/theirs" || return 1
	build/san/selftests/perfdata "$1" >"$tmp/printed" || return 1
	sed '$d' "$tmp/printed" | without_strange_fields >"$tmp/ours"
	sort -s -n -c -k 1,1 "$tmp/ours" || return 1
	sort "$tmp/ours" | diff "$tmp/theirs" - >"$tmp/diff" || { explain_difference "$1"; return 1; }
	EVENTS=$(wc -l <"$tmp/theirs")
	[ "$EVENTS" -gt 50 ]
}

# CLOCK WORD ARGUMENT...: perf's arguments, the expected clock, and a word of the expected
# description of the file
recorded()
{
	local clock=$1 word=$2
	shift 2

	record "$tmp/perf.data" "$@" && same_events "$tmp/perf.data" &&
		tail -n 1 "$tmp/printed" | tee "$tmp/last" | grep "clock $clock, perf .*$word" &&
		total=$((total + EVENTS))
}

losses()
{
	local lost

	record "$tmp/lossy.data" record -a -m 1 -e 'sched:*' -e 'raw_syscalls:*' || return 1
	same_events "$tmp/lossy.data" || return 1
	lost=$(perf script -D -i "$tmp/lossy.data" 2>/dev/null | awk '
		sub(/.*PERF_RECORD_LOST: .*lost:/, "") { records += $1 }
		sub(/.*PERF_RECORD_LOST_SAMPLES: .*lost samples *:/, "") { samples += $1 }
		END { print (records > samples ? records : samples) + 0 }')
	[ "$lost" -gt 0 ] &&
	[ "$(sed -n 's/^# .* events, \([0-9]*\) lost,.*/\1/p' "$tmp/printed")" = "$lost" ] || {
		tail -n 1 "$tmp/printed"
		echo "perf script: $lost lost"
		return 1
	}
}

# --- files of other perf releases, derived from one of the installed release

number() # FILE OFFSET: reads 8 bytes
{
	od -An -v -tu8 -j "$2" -N 8 "$1" | tr -d ' '
}

bytes() # NUMBER SIZE: little-endian
{
	local i

	for ((i = 0; i < $2; i++)); do
		printf %b "\\x$(printf %02x $((($1 >> 8 * i) & 255)))"
	done
}

patch() # FILE OFFSET NUMBER SIZE
{
	bytes "$3" "$4" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# FILE SIZE: moves the attributes to the end of the file, shortened to SIZE bytes each as an older
# perf writes them; the installed `perf script` reads that
with_attributes_of()
{
	local file=$1 size=$2 entry count at end i

	entry=$(number "$file" 16) at=$(number "$file" 24) end=$(stat -c %s "$file")
	count=$(($(number "$file" 32) / entry))
	for ((i = 0; i < count; i++, at += entry)); do
		{
			tail -c +$((at + 1)) "$file" | head -c 4
			bytes "$size" 4
			tail -c +$((at + 9)) "$file" | head -c $((size - 8))
			tail -c +$((at + entry - 15)) "$file" | head -c 16
		} >>"$tmp/attributes"
	done
	cat "$tmp/attributes" >>"$file"
	rm "$tmp/attributes"
	patch "$file" 16 $((size + 16)) 8
	patch "$file" 24 "$end" 8
	patch "$file" 32 $((count * (size + 16))) 8
}

other_ages()
{
	local size

	for size in 64 72 80 96 104 112; do
		cp "$tmp/small.data" "$tmp/aged.data"
		with_attributes_of "$tmp/aged.data" $size
		same_events "$tmp/aged.data" || { echo "attributes of $size bytes"; return 1; }
	done
}

# Only the format and version sections: the headers of the other features are absent.
few_sections()
{
	cp "$tmp/small.data" "$tmp/few.data"
	patch "$tmp/few.data" 72 $(($(number "$tmp/small.data" 72) & 0x3e)) 8
	same_events "$tmp/few.data"
}

# --- invalid files

# FILE: one line, and exit status 1
refused()
{
	timeout 20 build/san/selftests/perfdata "$1" - >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] || {
		head -n 20 "$tmp/err" "$tmp/out"
		return 1
	}
}

# FILE PLACES: prints the offsets of its section boundaries, and of PLACES equal parts
places_in()
{
	local table i size

	size=$(stat -c %s "$1") table=$(($(number "$1" 40) + $(number "$1" 48)))
	{
		echo 1 8 16 72 104 "$(number "$1" 24)" "$(($(number "$1" 24) + $(number "$1" 32)))"
		echo "$(number "$1" 40)" "$table"
		for ((i = 0; i < $(sections_of "$1"); i++)); do
			echo "$((table + i * 16))" "$(number "$1" $((table + i * 16)))"
			echo "$(($(number "$1" $((table + i * 16))) + $(number "$1" $((table + i * 16 + 8)))))"
		done
		echo "$size"
	} | tr ' ' '\n' | awk '{ print $1 - 1; print $1; print $1 + 1 }' |
		sort -nu - <(seq 0 $((size / $2)) $((size - 1))) | awk -v size="$size" '$1 < size'
}

sections_of()
{
	local bits n=0

	for ((bits = $(number "$1" 72); bits; bits >>= 1)); do
		n=$((n + (bits & 1)))
	done
	echo $n
}

cut_anywhere() # FILE PLACES
{
	local place n=0

	for place in $(places_in "$1" "$2"); do
		head -c "$place" "$1" >"$tmp/cut.data"
		refused "$tmp/cut.data" || { echo "cut to $place bytes"; return 1; }
		n=$((n + 1))
	done
	CUTS=$n
	[ $n -gt "$2" ]
}

# The output of a pipe may end after any record; anywhere else it is truncated.
cut_pipe()
{
	local size place good=0

	size=$(stat -c %s "$1")
	for place in $(seq 1 $((size / 100)) $((size - 1))); do
		head -c "$place" "$1" >"$tmp/cut.data"
		if timeout 20 build/san/selftests/perfdata "$tmp/cut.data" - >/dev/null 2>&1; then
			good=$((good + 1))
		else
			refused "$tmp/cut.data" || { echo "cut to $place bytes"; return 1; }
		fi
	done
	[ $good -lt 30 ]
}

by_stdin()
{
	cat "$tmp/pipe.data" | build/san/selftests/perfdata - >"$tmp/piped" &&
		build/san/selftests/perfdata "$tmp/pipe.data" | cmp - "$tmp/piped"
}

file_by_stdin()
{
	! cat "$tmp/small.data" | build/san/selftests/perfdata - 2>"$tmp/err" &&
		grep "pass its name" "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ]
}

not_a_file()
{
	grep "$1" <(build/san/selftests/perfdata "$2" 2>&1)
}

total=0
ktap_start
try "the reader builds" built
try "perf sched record -k CLOCK_MONOTONIC" recorded 1 "" sched record -k CLOCK_MONOTONIC
mv "$tmp/perf.data" "$tmp/small.data"
try "compressed" recorded 1 zstd sched record -k CLOCK_MONOTONIC -z
mv "$tmp/perf.data" "$tmp/packed.data"
try "best compressed" recorded 1 zstd sched record -k CLOCK_MONOTONIC -z=22
try "without -k" recorded -1 "" sched record
try "-k CLOCK_MONOTONIC_RAW" recorded 4 "" sched record -k CLOCK_MONOTONIC_RAW
try "to a pipe" recorded 1 pipe sched record -k CLOCK_MONOTONIC -o -
mv "$tmp/perf.data" "$tmp/pipe.data"
try "to a pipe, compressed" recorded 1 "zstd, pipe" sched record -k CLOCK_MONOTONIC -z -o -
try "from stdin" by_stdin
try "a file from stdin is refused" file_by_stdin
try "one event, without IDs" recorded -1 "" record -e sched:sched_switch
try "callchains" recorded 1 "" sched record -k CLOCK_MONOTONIC -g
try "stacks and registers" recorded -1 "" record -a --call-graph dwarf -e sched:sched_switch
try "one thread at a time" recorded -1 "" record --per-thread -e sched:sched_switch,sched:sched_waking
try "all sched events, and others" recorded -1 "" record -a \
	-e 'sched:*,cpu-clock,page-faults,syscalls:sys_enter_openat'
try "a group, with its counters" recorded -1 "" record -a -e '{sched:sched_switch,cpu-clock}:S'
try "addresses, cgroups, namespaces" recorded -1 "" record -a -d --all-cgroups --namespaces \
	-e sched:sched_switch,sched:sched_stat_runtime
try "losses are counted" losses
try "attributes of older perf releases" other_ages
try "few sections" few_sections
try "no scheduler event" bash -c "perf record -o $tmp/no.data -e cpu-clock true &&
	! build/san/selftests/perfdata $tmp/no.data 2>$tmp/err && grep 'none of its .* samples' $tmp/err"
perf record --threads -o "$tmp/folder" -e sched:sched_switch true >/dev/null 2>&1
try "a folder" not_a_file "record without --threads" "$tmp/folder"
try "a file of a folder" not_a_file "record without --threads" "$tmp/folder/data"
try "not a perf.data file" not_a_file "not a perf.data file" Makefile
CUTS=0
try "truncated at every section, and at 200 places in between" cut_anywhere "$tmp/small.data" 200
note "$CUTS places"
try "truncated compressed data" cut_anywhere "$tmp/packed.data" 50
note "$CUTS places"
try "the output of a pipe, truncated at 100 places" cut_pipe "$tmp/pipe.data"
note "$total events compared"
ktap_end
