#!/bin/bash
# parallel
# timeout: 120
# Tests doctor for a process: the text fits a screen and is correct, and --json of doctor and probes
# contains the same facts.
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

clock_source=/sys/devices/system/clocksource/clocksource0/current_clocksource

# FOLDER COMMAND...: starts a copy of a target that waits. Sets TARGET_PID to the Go process.
start_copy()
{
	local folder=$1
	shift

	mkdir -p "$folder" && cp build/targets/"$ORACLE_GO"/symbols "$folder/program" || return 1
	rm -f "$folder/in" && mkfifo "$folder/in" && : >"$folder/out" || return 1
	exec {COPY_IN}<>"$folder/in"
	"$@" "$folder/program" -calls 3 <"$folder/in" >"$folder/out" {COPY_IN}<&- &
	background+=($!)
	TARGET_PID=$!
	wait_until 20 grep -q ready "$folder/out"
}

doctor() # [OPTION...]
{
	timeout 60 $GOTRACE doctor -p "$TARGET_PID" "$@" >"$tmp/doctor"
}

one_screen()
{
	doctor || { cat "$tmp/doctor"; return 1; }
	cat "$tmp/doctor"
	[ "$(wc -l <"$tmp/doctor")" -le 24 ] && ! grep -q '.\{101\}' "$tmp/doctor" || return 1
	for what in process program build offsets module sched syscall gc kernel fault cost inline now; do
		grep -Eq "^(ok|note) +$what " "$tmp/doctor" || { echo "nothing about $what"; return 1; }
	done
	grep -q "$ORACLE_GO" "$tmp/doctor" && grep -q 'verified in its memory' "$tmp/doctor"
}

# According to /proc: threads, and the Ps of GOMAXPROCS=3.
facts_are_right()
{
	doctor --json && cat "$tmp/doctor" &&
		jq -e --arg go "$ORACLE_GO" --argjson pid "$TARGET_PID" \
			--argjson threads "$(find "/proc/$TARGET_PID/task" -mindepth 1 -maxdepth 1 | wc -l)" \
			'.recordable and (.checks | all(.result != "missing")) and (.target |
			.pid == $pid and .go == $go and .procs == 3 and .threads <= $threads and
			.threads >= 1 and .goroutines >= 1 and .file == "unchanged" and
			.own_namespaces == [] and (.build | map_values(select(.)) == {}) and
			.probes >= 20 and ([.events[].probes] | add) == .probes and
			.events.sched.missing == [] and .offsets != "" and .warning == null)' "$tmp/doctor"
}

# LEVEL TEXT: the line about inline probes, and the same in JSON; the process is as before.
inline_line()
{
	local maps

	maps=$(cat "/proc/$TARGET_PID/maps")
	doctor && cat "$tmp/doctor" && tr -s ' \n' ' ' <"$tmp/doctor" | grep -q "$1 inline .*$2" && doctor --json &&
		jq -e --arg level "$1" --arg text "$2" '(.checks[] | select(.what == "inline") |
			.result == $level and (.text | contains($text))) and .recordable and
			if $level == "ok" then .target.inline.refused == null and
				(.target.inline.probes | contains(["execute", "park", "ready", "create", "destroy"]))
			else (.target.inline.refused | contains($text)) and .target.inline.probes == [] end' \
			"$tmp/doctor" && [ "$maps" = "$(cat "/proc/$TARGET_PID/maps")" ] && text_is_clean "$TARGET_PID"
}

# The reasons to refuse are those of record: check/inline.sh and inline-hazards.sh provoke each.
inline_is_reported()
{
	if [ "$(cat "$clock_source")" != tsc ]; then
		inline_line note 'inline probes require the clock source'
		return
	fi
	inline_line ok 'record --probes=inline is possible' || return 1
	kill -STOP "$TARGET_PID" && inline_line note 'is stopped by a signal: continue it with SIGCONT' || return 1
	kill -CONT "$TARGET_PID"
}

# Only the clock is a matter of the machine.
clock_is_reported()
{
	local want='the clock is suitable'

	[ "$(cat "$clock_source")" = tsc ] || want='inline probes require the clock source'
	timeout 60 $GOTRACE doctor >"$tmp/doctor" && grep -q " inline  *$want" "$tmp/doctor" &&
		echo hpet >"$tmp/hpet" && unshare -m sh -c "mount --bind '$tmp/hpet' $clock_source && exec $GOTRACE doctor" \
		>"$tmp/doctor" && grep -q "^note  *inline  *inline probes require the clock source 'tsc'" "$tmp/doctor"
}

inline_of_an_old_release()
{
	build/targets/go1.21.13/tiny -duration 60s >"$tmp/tiny.out" &
	TARGET_PID=$!
	background+=("$TARGET_PID")
	wait_until 20 grep -q pid "$tmp/tiny.out" && inline_line note 'Go 1.22 to 1.27'
}

# doctor reports how a program was built: the same program, stripped, position-independent.
build_is_reported()
{
	(cd selftests/targets && CGO_ENABLED=0 GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" build -buildvcs=false \
		-buildmode=pie "-ldflags=-s -w" -o "$OLDPWD/$tmp/stripped" ./tiny) || return 1
	start_background "$tmp/stripped" -duration 60s
	TARGET_PID=$BACKGROUND_PID
	wait_until 20 grep -q pid "$tmp/background.out" || return 1
	doctor --json # its exit status does not matter here
	jq -e '.target.build | .pie and .stripped and .no_dwarf and (.cgo or .race or .external | not)' \
		"$tmp/doctor"
}

replaced()
{
	start_copy "$tmp/deleted" && rm "$tmp/deleted/program" && doctor --json &&
		jq -e '.target.file == "deleted" and .recordable' "$tmp/doctor" &&
		cp build/targets/"$ORACLE_GO"/tiny "$tmp/deleted/program" && doctor --json &&
		jq -e '.target.file == "replaced" and .recordable' "$tmp/doctor" &&
		doctor && grep -q 'was replaced since the start' "$tmp/doctor"
}

namespaces()
{
	start_copy "$tmp/contained" unshare --pid --mount --fork || return 1
	TARGET_PID=$(ps -o pid= --ppid "$TARGET_PID" | tr -d ' ')
	background+=("$TARGET_PID")
	doctor --json && jq -e '.target.own_namespaces == ["pid", "mnt"]' "$tmp/doctor"
}

# Not a Go program, and no such process: one finding reports it, and the exit status is set.
refused()
{
	TARGET_PID=$$
	! doctor && grep -q '^MISSING  target .*not a Go program' "$tmp/doctor" &&
		! doctor --json && jq -e '.recordable == false and .target.command != ""' "$tmp/doctor" &&
		! timeout 60 $GOTRACE probes -p $$ --json >"$tmp/probes" 2>"$tmp/error" &&
		jq -e '.probes == [] and (.refused | contains("not a Go program"))' "$tmp/probes" &&
		grep -q 'not a Go program' "$tmp/error"
}

# Without the module, doctor calls it optional and explains how to install it; selftests/vm tests
# the rest in a virtual machine.
module_is_reported()
{
	local want='not loaded (optional)' result=note

	[ ! -e /dev/gotrace ] || want='loaded: ' result=ok
	timeout 60 $GOTRACE doctor --json >"$tmp/doctor" || return 1
	jq -e --arg want "$want" --arg result "$result" \
		'.checks | map(select(.what == "module")) | length == 1 and .[0].result == $result and
			(.[0].text | startswith($want))' "$tmp/doctor" &&
		{ [ "$result" = ok ] || grep -q 'modprobe gotrace' "$tmp/doctor"; }
}

# Each line of the table is one of the probes in the JSON, and the instruction's bytes are in the
# file.
probes_json()
{
	local exe=build/targets/$ORACLE_GO/symbols at

	timeout 60 $GOTRACE probes --exe "$exe" >"$tmp/table" &&
		timeout 60 $GOTRACE probes --exe "$exe" --json >"$tmp/probes" || return 1
	jq -e '.refused == null and .offsets != "" and .warning == null and .missing == [] and (.probes | length >= 20 and
		all((.cost == "emulated" or .cost == "derived") and .why != "" and .address > .file_offset)) and
		([.probes[].events] | unique == ["gc", "heap", "sched", "sweep", "syscall"])' "$tmp/probes" &&
		diff <(sed -n 's,^\([a-z/]*runtime[^ ]*\) .*,\1,p' "$tmp/table") \
			<(jq -r '.probes[] | .function + "+0x" +
				(.function_offset | [while(. > 0; . / 16 | floor) | . % 16] | reverse |
				map("0123456789abcdef"[.:. + 1]) | add // "0")' "$tmp/probes") || return 1
	for at in $(jq '.probes[] | select(.instruction == "push rbp").file_offset' "$tmp/probes"); do
		[ "$(od -An -tx1 -j "$at" -N 1 "$exe")" = " 55" ] || { echo "at $at"; return 1; }
	done
}

# The process by /proc, its program by Go's tools, and its goroutines by what the runtime prints at its end
process_is_described()
{
	local program have want

	GOTRACEBACK=system start_target parked "$ORACLE_GO" -n 17 -threads 2 -duration 600s && doctor --json || return 1
	program=$(readlink "/proc/$TARGET_PID/exe") && have=$(jq -c '.target | [.command, .exe, .program, .build_id]' "$tmp/doctor") &&
		want=$(jq -cn --arg command "$(tr '\0' ' ' <"/proc/$TARGET_PID/cmdline" | sed 's/ $//')" --arg exe "$program" \
			--arg program "$(GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" version -m "$program" | awk '$1 == "path" { print $2 }')" \
			--arg id "$(readelf -n "$program" | sed -n 's/.*Build ID: //p')" '[$command, $exe, $program, $id]') || return 1
	echo "$have"
	kill -QUIT "$TARGET_PID" && wait "$TARGET_PID"
	[ "$have" = "$want" ] && [ "$(jq .target.goroutines "$tmp/doctor")" -eq "$(grep -c '^goroutine [1-9]' "$tmp/target.err")" ]
}

# Each instruction is within the function of Go's symbol table, whose begin is function_offset before its address; the
# sets of events are those of the source.
probes_are_in_functions()
{
	local exe=build/targets/$ORACLE_GO/regions

	$GOTRACE probes --exe "$exe" --json >"$tmp/probes" && GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" tool nm -n -type "$exe" >"$tmp/symbols" || return 1
	in_functions "$tmp/probes" || return 1
	for change in 'events = "user"' 'arguments = "BX=g"' 'function = "runtime.gopark"' 'function_offset += 1' 'address += 4096'; do
		jq ".probes[0].$change" "$tmp/probes" >"$tmp/other" && in_functions "$tmp/other" >"$tmp/found" && { echo "accepts .probes[0].$change"; return 1; }
	done
	return 0
}

in_functions() # PROBES
{
	python3 - "$1" "$tmp/symbols" <<-'EOF'
		import bisect, json, re, sys
		registers = dict(re.findall(r'^#define (NAME_\w+)\s+"(\w+)"', open("userspace/target/arch/arch_x86.h", encoding="utf-8").read(), re.M))
		text = open("include/gotrace/kinds.h", encoding="utf-8").read().replace("\\\n", "")
		rows = re.findall(r"\tX\(\w+, (\w+), \w+, ([A-Z]+),([^)]*)\)", text)
		sets = {name: events.lower() for name, events, _ in rows}
		read = {}
		for name, _, registers_read in rows:
		    spelled = re.sub(r"NAME_\w+", lambda word: f'"{registers[word[0]]}"', registers_read)
		    read[name] = {"".join(re.findall(r'"([^"]*)"', part)) for part in re.split(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', spelled)}
		symbols = []
		for line in open(sys.argv[2], encoding="utf-8"):
		    fields = line.split(None, 2)
		    if len(fields) == 3 and fields[1] in "Tt":
		        symbols.append((int(fields[0], 16), fields[2].strip()))
		starts = [start for start, _ in symbols]
		probes = json.load(open(sys.argv[1], encoding="utf-8"))["probes"]
		faults = []
		for site in probes:
		    start, name = symbols[bisect.bisect_right(starts, site["address"]) - 1]
		    have = site["events"], site["function"], site["function_offset"], (site["arguments"] in read.get(site["probe"], ()) or
		        site["probe"] == "heap_alloc" and bool(re.fullmatch(r"[A-Z][A-Z0-9]+=bytes", site["arguments"])))
		    want = sets.get(site["probe"]), name, site["address"] - start, True
		    if have != want:
		        faults.append(f"{site['probe']}: {have} instead of {want}")
		print(*faults[:10], f"{len(probes)} probes", sep="\n")
		sys.exit(bool(faults) or len(probes) < 20)
	EOF
}

# FUNCTION: a copy of tiny in which a function of the runtime has another name
without()
{
	LC_ALL=C sed "s/${1//./\\.}\x00/${1%?}Z\x00/g" "build/targets/$ORACLE_GO/tiny" >"$tmp/without" && chmod +x "$tmp/without"
}

# FUNCTION PROBE SET NEEDED: the probe in a function that the program lacks is missing, and is no other than in the
# whole program.
lacks()
{
	without "$1" || return 1
	$GOTRACE probes --no-cache --exe "$tmp/without" --json >"$tmp/probes" 2>"$tmp/err"
	jq -c '.missing' "$tmp/probes"
	jq -e --arg function "$1" --arg probe "$2" --arg events "$3" --argjson needed "$4" --slurpfile whole "$tmp/whole" '
		.missing | length == 1 and .[0] == { probe: $probe, events: $events, needed: $needed, why: $whole[0].probes[] |
		select(.probe == $probe).why, reason: "the program has no function \($function)" }' "$tmp/probes"
}

missing_probes()
{
	$GOTRACE probes --exe "build/targets/$ORACLE_GO/tiny" --json >"$tmp/whole" && lacks runtime.execute execute sched true &&
		lacks runtime.procresize procs sched false && lacks runtime.gcStart gc_begin gc false || return 1
	start_background "$tmp/without" -duration 60s
	TARGET_PID=$BACKGROUND_PID
	wait_until 20 grep -q pid "$tmp/background.out" && doctor --json &&
		jq -e '.target.events.gc.missing == ["gc_begin"] and ([.target.events[].missing[]] | length) == 1' "$tmp/doctor"
}

# Prints the bytes of the program's file, from each one on that is another one in the memory of the process.
breakpoints()
{
	python3 - "/proc/$TARGET_PID" <<-'EOF'
		import os, sys
		exe = os.readlink(sys.argv[1] + "/exe")
		for line in open(sys.argv[1] + "/maps", encoding="utf-8"):
		    range_, access, offset, *_, name = line.split()
		    if access == "r-xp" and name == exe:
		        begin, end = (int(number, 16) for number in range_.split("-"))
		        with open(sys.argv[1] + "/mem", "rb") as memory, open(exe, "rb") as file:
		            memory.seek(begin), file.seek(int(offset, 16))
		            have, want = memory.read(end - begin), file.read(end - begin)
		        for i in range(end - begin):
		            if have[i] != want[i]:
		                print(want[i:i + 2].hex())
	EOF
}

# An instruction is probed by a breakpoint. The kernel emulates pushes of registers, nops, jumps and calls.
probes_are_breakpoints()
{
	local sets n

	start_target pingpong "$ORACLE_GO" -duration 60s -rate 10 && doctor --json || return 1
	for sets in sched sched,syscall sched,gc,heap,sweep sched,syscall,gc,heap,user,sweep; do
		start_background $GOTRACE record -p "$TARGET_PID" --events $sets -o "$tmp/breakpoints.trace" && recorder_is_live &&
			breakpoints >"$tmp/breakpoints" && stop_recorder && rm "$tmp/breakpoints.trace" || return 1
		n=$(wc -l <"$tmp/breakpoints")
		jq -e --argjson n "$n" --arg sets $sets '[.target.events[($sets | split(","))[]].probes] | add | ([., $n] | debug) as $_ | . == $n' "$tmp/doctor" || return 1
	done
	jq -e --argjson n "$n" --argjson stepped "$(grep -vcE '^(5[0-7]|415[0-7]|90|0f1f|eb|e9|e8|7.|0f8.)' "$tmp/breakpoints")" \
		'.target | .probes == $n and .stepped == $stepped' "$tmp/doctor" && kill "$TARGET_PID"
}

# PROGRAM: whether it has DWARF, and symbols, by readelf
sources_of_offsets()
{
	readelf -SW "$1" >"$tmp/sections" && timeout 60 $GOTRACE probes --no-cache --exe "$1" --json >"$tmp/probes" || return 1
	jq -c '[.offsets, .warning]' "$tmp/probes"
	[ "$(jq '.offsets | test("DWARF")' "$tmp/probes")" = "$(grep -qE ' \.z?debug_info ' "$tmp/sections" && echo true || echo false)" ] &&
		[ "$(jq '.offsets | test("symbol table")' "$tmp/probes")" = "$(grep -q ' \.symtab ' "$tmp/sections" && echo true || echo false)" ]
}

# Offsets come from what the program has, and of a known release from the table, too; a doubt is that it is unknown.
offsets()
{
	local newest program

	newest=$(newest_go_of tiny) && sources_of_offsets "build/targets/$ORACLE_GO/tiny" &&
		jq -e '(.offsets | test("table of releases")) and .warning == null' "$tmp/probes" &&
		sources_of_offsets "$tmp/stripped" && jq -e '(.offsets | test("table of releases")) and .warning == null' "$tmp/probes" || return 1
	[ -n "$newest" ] || return 0
	program=build/targets/$newest/tiny
	sources_of_offsets "$program" && jq -e --arg go "$newest" '(.offsets | test("table of releases") | not) and (.warning | startswith($go + " is newer"))' "$tmp/probes" || return 1
	start_background "$program" -duration 60s
	TARGET_PID=$BACKGROUND_PID
	wait_until 20 grep -q pid "$tmp/background.out" && doctor --json && jq -e --slurpfile of_file "$tmp/probes" \
		'.target.warning == $of_file[0].warning and .target.offsets == $of_file[0].offsets' "$tmp/doctor"
}

ktap_start
GOMAXPROCS=3 start_copy "$tmp/plain" || exit 1
try "doctor -p fits one screen" one_screen
note "$(cat "$tmp/doctor")"
try "doctor --json has the facts of the process" facts_are_right
try "the features and the installation of the kernel module" module_is_reported
try "whether inline probes are possible" inline_is_reported
try "whether the clock is suitable for inline probes" clock_is_reported
try "probes --json has the same probes as the table" probes_json
try "instructions are in the functions of Go's symbol table" probes_are_in_functions && note "$(cat "$tmp/try.out")"
in_all try "the process, its program and its goroutines" process_is_described
try "how a program was built" build_is_reported
try "where the struct offsets come from" offsets
try "probes are the breakpoints of a recording" probes_are_breakpoints
try "probes that are missing" missing_probes
try "no inline probes for Go 1.21" inline_of_an_old_release
try "a program that was deleted or replaced" replaced
try "a process in namespaces of its own" namespaces
try "not a Go program" refused
ktap_end
