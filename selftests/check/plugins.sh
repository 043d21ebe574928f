#!/bin/bash
# Tests plugins (-buildmode=plugin), which execute copies of the runtime's functions: loaded before the
# recording, while it runs, stripped, and one that cannot be recorded. The runtime traces the same run,
# and the counts of the target are exact.
# tier: all
# parallel
# timeout: 900
# long: 2400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
. selftests/plugins.lib.sh

# As record_target, whose target sends "ready" only once the plugins are loaded.
same_run() # GO SUFFIX
{
	record_target plugins "$HOST" "$EVERY_EVENT" -trace "$tmp/own.trace" -duration "$DURATION" \
		"$HOST/first$2.so" "$HOST/second$2.so" &&
		check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/plugins.done" &&
		compare_own "$1"
}

compare_own() # GO
{
	# shellcheck disable=SC2046
	build/reference/compare -min-goroutines 500 -min-transitions 5000 -min-reason 0 -reasons '' \
		-identical 99.5 -stacks 99 -time-p99 1h $(tolerance) "$tmp/own.trace" "$RECORDED"
}

plugins_of() { build/gotrace stat --json "$RECORDED" | jq -c "[.private.plugins[] | select(.file | endswith(\"/$1\"))]"; }

# The interval without probes begins when the plugin is mapped, and the model is right after its end.
loaded_late() # GO SUFFIX
{
	local opened

	record_target plugins "$HOST" "$EVERY_EVENT" -trace "$tmp/own.trace" -duration "$DURATION" \
		-pause "$(stretched 2000ms)" -late "$HOST/second$2.so" "$HOST/first$2.so" &&
		check_trace "$RECORDED" && compare_own "$1" || return 1
	opened=$(jq -e .opened "$tmp/plugins.done") &&
		plugins_of "first$2.so" | jq -e 'length == 1 and (.[0] | .recorded and .missing_from == .missing_to)' &&
		plugins_of "second$2.so" | jq -e --argjson opened "$opened" \
			'length == 1 and (.[0] | .recorded and .missing_from > $opened and .missing_from < $opened + 2e9
				and .missing_to > .missing_from)' &&
		build/gotrace stat "$RECORDED" | grep -q "second$2.so: recorded, but not from"
}

# `record -- CMD`: the program loads them soon after its start.
launched()
{
	RECORDED=$tmp/command.trace
	$GOTRACE record --force -o "$RECORDED" -d "$(stretched 2000ms)" -- "$HOST/plugins" -duration 1s "$HOST/first.so" </dev/null \
		>/dev/null 2>"$tmp/err" || return 1
	check_trace "$RECORDED" && plugins_of first.so | jq -e 'length == 1 and .[0].recorded'
}

listed()
{
	start_target plugins "$HOST" "$HOST/first.so" "$HOST/second-stripped.so" &&
		$GOTRACE probes -p "$TARGET_PID" --json >"$tmp/probes" &&
		$GOTRACE doctor -p "$TARGET_PID" --json >"$tmp/doctor" || return 1
	jq -e --arg host "$HOST" '[.plugins[] | select(.refused == null and (.probes | length) > 20).file] ==
		[$host + "/first.so", $host + "/second-stripped.so"] and .libraries == []' "$tmp/probes" &&
		jq -e --slurpfile probes "$tmp/probes" '[.target.plugins[] | [.file, .refused, .probes]] ==
			[$probes[0].plugins[] | [.file, .refused, (.probes | length)]] and .target.libraries == []' "$tmp/doctor" || return 1
	refused 1 'has loaded the plugin first.so, in which inline probes are not supported' \
		$GOTRACE record -p "$TARGET_PID" --probes=inline -d 1s -o "$tmp/x.trace" || return 1
	$GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/x.trace" &&
		text_is_clean "$TARGET_PID" "$HOST/first.so" && text_is_clean "$TARGET_PID" &&
		tell_target start && expect_target done && stop_target
}

# Options that name functions mention the plugins that are loaded, or that some can be.
functions()
{
	local not='functions in plugins are not found'

	start_target plugins "$HOST" "$HOST/first.so" "$HOST/second-stripped.so" || return 1
	for option in --region --task; do
		refused 1 "no function .*first.helper; $not: first.so, second-stripped.so$" $GOTRACE record -p "$TARGET_PID" \
			$option gotrace-bpf/selftests/targets/plugins/first.helper -o "$tmp/x.trace" || return 1
	done
	refused 1 "no function none; $not: first.so, second-stripped.so$" $GOTRACE probes -p "$TARGET_PID" --functions none &&
		refused 1 "no calls? of database/sql.*; $not: first.so, second-stripped.so$" $GOTRACE record -p "$TARGET_PID" \
			--requests sql -o "$tmp/x.trace" && tell_target start && expect_target done && stop_target &&
		refused 1 "no function none; $not$" $GOTRACE probes --exe "$HOST/plugins" --functions none
}

# Its build information has another release, which the runtime does not compare.
other_release()
{
	local offset size

	read -r offset size < <(readelf -SW "$HOST/second.so" | awk '{ sub(/\[ */, "[") } $2 == ".go.buildinfo" { print $5, $6 }')
	cp "$HOST/second.so" "$HOST/other.so" && chmod u+w "$HOST/other.so" &&
		dd if="$HOST/second.so" bs=1 skip=$((0x$offset)) count=$((0x$size)) status=none |
		LC_ALL=C sed 's/go1\.[0-9][0-9]/go1.99/' |
		dd of="$HOST/other.so" bs=1 seek=$((0x$offset)) conv=notrunc status=none
}

not_recorded()
{
	other_release &&
		record_target plugins "$HOST" "" -duration 300ms -pause 300ms -late "$HOST/other.so" "$HOST/first.so" &&
		grep -q 'not recorded: what the plugin other.so executes: it was built with go1.99' "$tmp/background.out" &&
		plugins_of other.so | jq -e '.[0] | (.recorded | not) and (.why | test("built with go1.99")) and .missing_to == 0' &&
		build/gotrace stat "$RECORDED" | grep 'other.so: not recorded from .* on: it was built with' || return 1
	start_target plugins "$HOST" "$HOST/other.so" &&
		$GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/x.trace" 2>"$tmp/err" &&
		grep 'not recorded: what the plugin other.so executes: ' "$tmp/err" &&
		tell_target start && expect_target done && stop_target
}

ktap_start
for go in $(by_tier "$ORACLE_GO" "$ORACLE_GO" "$(every_go_since 20) go${LAST_GOS##* }"); do
	HOST=$PWD/$tmp/$go
	try "$go: a program and plugins build" build_plugins "$go" "$HOST" || continue
	for suffix in "" -stripped; do
		try "$go: plugins$suffix match runtime/trace" long_enough '2s 10s' same_run "$go" "$suffix"
		try "$go: a plugin$suffix that is loaded meanwhile" long_enough '2s 10s' loaded_late "$go" "$suffix"
	done
done
try "a command loads a plugin" launched
try "plugins are listed, inline probes are refused, and no breakpoint is left" listed
try "a function that is not found may be in a plugin" functions
try "a plugin of another release is named and not recorded" not_recorded
ktap_end
