#!/bin/bash
# The web pages of `go tool trace` for a process that does nothing: in each version of the format, and with the tool of
# that release and the newest one that is tested, each goroutine lasts until the end of the recording, as for gotrace,
# and what marks the end adds no goroutine, P, thread, task, region or message.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/trace_tool.py selftests/releases.lib.sh selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

N=20 # goroutines that wait

tool() { python3 -B selftests/trace_tool.py "$@"; }

pages() # GO TRACE: $tmp/GO.pages; the tool ends with it
{
	tool_of "$1" && tool pages "$(readlink "$tmp/trace-of-$1")" "$2" >"$tmp/$1.pages"
}

tool_of() # GO
{
	[ -e "$tmp/trace-of-$1" ] || go_trace "$1" -h >"$tmp/out" 2>&1 || [ -e "$tmp/trace-of-$1" ]
}

release_of() # VERSION: the patch release that is tested
{
	printf 'go%s\n' $LAST_GOS | grep "^go$1\."
}

# GO: Go 1.25 and earlier take the name of a goroutine from its events only, not from the state at the begin, which has no
# name in version 1.22, where it is private data
names_in()
{
	[ "$(minor_of "${1#go}")" -ge 26 ] && [ "$(head -c 7 "$tmp/trace")" != "go 1.22" ] && echo named || echo unnamed
}

recorded() # VERSION: $tmp/trace, and $tmp/unmarked without the marks of the end
{
	$GOTRACE record -p "$TARGET_PID" -d 1500ms -o "$tmp/trace" --force --format-version "$1" --stats "$tmp/stats" &&
		[ "$(head -c 7 "$tmp/trace")" = "go $1" ] && check_trace "$tmp/trace" &&
		build/gotrace text "$tmp/trace" | tool without_end >"$tmp/text" &&
		build/gotrace assemble "$tmp/text" -o "$tmp/unmarked" --force && build/gotrace check "$tmp/unmarked" &&
		build/gotrace goroutines --all --json "$tmp/trace" | jq -e --argjson n $N \
			'([.goroutines[].name] | all(. != "")) and ([.goroutines[] | select(.name | startswith("main.parked"))] | length) >= $n'
}

shown() # GO
{
	local window threads

	window=$(stat_of window_ns "$tmp/stats") && pages "$1" "$tmp/unmarked" && mv "$tmp/$1.pages" "$tmp/unmarked.pages" &&
		pages "$1" "$tmp/trace" && tool ends_at "$window" "$tmp/$1.pages" && tool agrees build/gotrace "$tmp/trace" "$(names_in "$1")" "$tmp/$1.pages" &&
		tool adds_nothing "$tmp/$1.pages" "$tmp/unmarked.pages" || return 1
	# Without the marks the end is not shown.
	tool ends_at "$window" "$tmp/unmarked.pages" >"$tmp/out" && { echo "the marks of the end change nothing"; return 1; }
	threads=$(ls "/proc/$TARGET_PID/task") && jq -r '.views.thread.tracks[] | select(startswith("Thread ")) | .[7:]' "$tmp/$1.pages" |
		grep -vxF "$threads" && { echo "not a thread of the process"; return 1; }
	jq -e --argjson n $N --arg own "$(grep -c . <<<"$threads")" '(.goroutines | length) > $n and .tasks == {} and .task_events == 0 and
		.regions == {} and (.views | all(.events | keys | all(startswith("C ") or startswith("X "))))' "$tmp/$1.pages" >/dev/null
}

# A program with tasks and regions, as Go's pages show them, so that the comparison does not find only zeros
of_busy_program()
{
	record_target annotate "$ORACLE_GO" "" -messages 10 -size 10 -names 10 -deep 5 && pages "$ORACLE_GO" "$RECORDED" &&
		tool agrees build/gotrace "$RECORDED" named "$tmp/$ORACLE_GO.pages" &&
		jq -e '([.tasks[]] | add > 0) and ([.regions[]] | add > 0) and .task_events > 0' "$tmp/$ORACLE_GO.pages"
}

# Each comparison fails if a figure of a page is another one.
detects()
{
	local change pages=$tmp/$ORACLE_GO.pages

	cp "$pages" "$tmp/right.pages" || return 1
	for change in '.goroutines[].total_ns += 2000000' '(.goroutines | keys[0]) as $g | .goroutines[$g].times["Execution time"] += 2000' \
			'.goroutines["999"] = .goroutines["1"]' 'del(.goroutines["1"])' '.views.proc.tracks += ["Proc 99"]' \
			'.views.thread.tracks += ["Thread 1"]' '.tasks.more = 1' '.regions.more = 1' '.goroutines["1"].function = "main.other"' \
			'.groups["main.other"] = { count: 1, exec_ns: 0 }'; do
		jq "$change" "$tmp/right.pages" >"$pages" && tool agrees build/gotrace "$tmp/trace" named "$pages" >"$tmp/out" &&
			{ echo "agrees with $change"; return 1; }
	done
	for change in '.goroutines["1"].total_ns += 2000000' '.views.thread.end_ns -= 2000000' '.goroutines["1"].times["Unknown time"] += 2000'; do
		jq "$change" "$tmp/right.pages" >"$pages" && tool ends_at "$(stat_of window_ns "$tmp/stats")" "$pages" >"$tmp/out" &&
			{ echo "ends_at accepts $change"; return 1; }
	done
	for change in '.goroutines["999"] = .goroutines["1"]' '.views.proc.tracks += ["Proc 99"]' '.views.thread.tracks += ["Thread 1"]' \
			'.tasks.more = 1' '.task_events = 1' '.regions.more = 1' '.views.proc.events["I user event"] = 1'; do
		jq "$change" "$tmp/right.pages" >"$pages" && tool adds_nothing "$pages" "$tmp/unmarked.pages" >"$tmp/out" &&
			{ echo "adds_nothing accepts $change"; return 1; }
	done
	mv "$tmp/right.pages" "$pages"
}

ktap_start
if try "a process that does nothing" start_target parked "$ORACLE_GO" -n $N -threads 2 -duration 600s; then
	for version in 1.22 1.23 1.25 1.26; do
		try "a trace of version $version" recorded $version || continue
		for go in "$(release_of $version)" "$ORACLE_GO"; do
			try "version $version in $go" shown "$go"
		done
	done
	try "other figures are detected" detects
	kill "$TARGET_PID"
fi
try "a program with tasks and regions" of_busy_program
ktap_end
