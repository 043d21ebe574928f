#!/bin/bash
# The format of a recording without --format-version: `go tool trace` of the release that built the program opens the
# file, shows the goroutines that gotrace shows, the main one under the name that it has in the program's own trace, and
# no task for labels of goroutines. Each way of recording chooses the format by the program, also several in one run.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/trace_tool.py selftests/programs.lib.sh selftests/releases.lib.sh selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/programs.lib.sh

tool() { python3 -B selftests/trace_tool.py "$@"; }

reads() # GO: what `go tool trace` of that release reads at most, of what the recorder writes; by the sources of the releases
{
	case $(minor_of "$1") in
	22) echo 1.22 ;;
	23 | 24) echo 1.23 ;;
	*) echo 1.25 ;; # up to 1.21 an older format, which is not written
	esac
}

is_format() # VERSION FILE...
{
	local file

	for file in "${@:2}"; do
		[ "$(head -c 7 "$file")" = "go $1" ] || { echo "$file: $(head -c 7 "$file") instead of go $1"; return 1; }
	done
}

pages() # TRACE NAME: $tmp/NAME.pages, by the tool of $TOOL_GO
{
	[ -e "$tmp/trace-of-$TOOL_GO" ] || go_trace "$TOOL_GO" -h >"$tmp/out" 2>&1 || [ -e "$tmp/trace-of-$TOOL_GO" ] || return 1
	tool pages "$(readlink "$tmp/trace-of-$TOOL_GO")" "$1" >"$tmp/$2.pages"
}

recorded() # GO: also by the program itself
{
	record_target tagged "$PROGRAMS" "--save-input $tmp/raw" -trace "$tmp/own.trace" && check_trace "$RECORDED" &&
		is_format "$(reads "$1")" "$RECORDED" || return 1
	rm -f "$tmp/again.trace"
	$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

opened() # GO
{
	local names=named

	[ "$(minor_of "${TOOL_GO#go}")" -ge 26 ] || names=unnamed # of those that never run
	pages "$RECORDED" ours && tool agrees build/gotrace "$RECORDED" $names "$tmp/ours.pages" &&
		jq -e '(.goroutines | length) > 100 and .goroutines["1"].function == "main.main"' "$tmp/ours.pages"
}

as_its_own()
{
	pages "$tmp/own.trace" own || return 1
	jq -c '{ main: .goroutines["1"].function, tasks, task_events, regions }' "$tmp/ours.pages" "$tmp/own.pages" | tee "$tmp/both"
	[ "$(sort -u "$tmp/both" | wc -l)" -eq 1 ] && jq -e '.tasks == {} and .task_events == 0' "$tmp/both" >/dev/null
}

clean() { rm -rf "$tmp/f" "$tmp"/f.*; }

a_command()
{
	clean
	$GOTRACE record -o "$tmp/f" -- "$PROGRAMS/tagged" </dev/null && is_format 1.22 "$tmp/f"
}

rotated()
{
	clean
	$GOTRACE record --rotate 1s -o "$tmp/f" -- "$PROGRAMS/tagged" </dev/null && is_format 1.22 "$tmp/f"/*.trace
}

sampled()
{
	clean
	start_target tagged "$PROGRAMS" -duration 60s && tell_target start &&
		$GOTRACE record -p "$TARGET_PID" -d 2s --sample 200ms/1s -o "$tmp/f" && is_format 1.22 "$tmp/f"/*.trace || return 1
	kill "$TARGET_PID"
}

# A shell starts programs of two releases
followed()
{
	local file found=
	clean
	$GOTRACE record --follow -o "$tmp/f" -- sh -c "$PROGRAMS/tagged -duration 2s; $NEWER/tagged -duration 2s" </dev/null || return 1
	for file in "$tmp/f" "$tmp"/f.*; do
		is_format "$(reads "$(build/gotrace stat --json "$file" | jq -r '.private.meta[] | select(.name == "go_version").value')")" "$file" || return 1
		found+=$(head -c 7 "$file")
	done
	[[ $found == *1.22* && $found == *1.25* ]]
}

window()
{
	clean
	start_target tagged "$PROGRAMS" -duration 2s && start_background $GOTRACE flight -p "$TARGET_PID" -o "$tmp/f" &&
		recorder_is_live && tell_target start && pause 500 && kill -USR1 "$BACKGROUND_PID" && pause 500 && stop_recorder && stop_target
	is_format 1.22 "$tmp/f"/*.trace
}

given()
{
	clean
	$GOTRACE record --format-version 1.26 --save-input "$tmp/raw" --force -o "$tmp/f" -- "$PROGRAMS/tagged" </dev/null && is_format 1.26 "$tmp/f" &&
		$GOTRACE replay "$tmp/raw" --force -o "$tmp/f.2" && is_format 1.22 "$tmp/f.2"
}

ktap_start
for version in $(by_tier "1.22.12 1.24.13" "$(last_gos_since 21) ${LAST_GOS##* }" "$(last_gos_since 21) ${LAST_GOS##* }"); do
	TOOL_GO=go$version
	[ "$(minor_of "$version")" -ge 22 ] || TOOL_GO=$ORACLE_GO
	try "go$version: the program builds" build_programs "$version" plain tagged || continue
	try "go$version: a recording has a format for that release" recorded "$version" || continue
	try "go$version: $TOOL_GO opens it" opened
	[ "$(minor_of "$version")" -ge 22 ] || continue
	try "go$version: it looks as the program's own trace" as_its_own && note "$(head -n 1 "$tmp/both")"
done
if try "programs of two releases build" build_programs 1.26.11 plain tagged; then
	NEWER=$PROGRAMS
	build_programs 1.22.12 plain tagged
	try "a command" a_command
	in_all try "--rotate" rotated
	in_all try "--sample" sampled
	try "--follow, programs of two releases" followed
	try "flight" window
	try "--format-version" given
fi
ktap_end
