#!/bin/bash
# Opens exports in the viewers that they are for, in Debian's Chromium, and compares what those have read: the timeline
# for chrome://tracing with the decoder in selftests/export/summary.py, and stacks in speedscope, from its own format
# and from profiles for pprof, with `gotrace export folded` and with Go's reader of profiles.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/browser.py selftests/export selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/export.lib.sh
. selftests/programs.lib.sh
. selftests/npm.lib.sh

SPEEDSCOPE=1.25.0
SPEEDSCOPE_SHA256=12b7fcfa95b1f07633886569903e0117043d810c83951ac9084e34c689ef1044

view() # VIEWER...: opens files
{
	timeout 200 $python selftests/export/viewers.py "$@"
}

summary_of() # FILE: the viewer chooses the slice at an arrow's start by its time alone
{
	jq -S '.arrows |= ([.[]] | add // 0)' "$1"
}

# Golden traces, runs of each Go release, and a trace with kernel events and CPU samples. The viewer takes a second per
# MB: long ones are left out.
chrome()
{
	local trace files=() file

	record_target selftrace "$ORACLE_GO" --cpu-profile=1000 -duration 30ms || return 1
	for trace in $(valid_golden) "$CORPUS"/runs/{short,few}-*.trace "$RECORDED"; do
		file=$tmp/${trace##*/}.chrome
		$READER export chrome "$trace" -o "$file" || return 1
		[ "$(stat -c %s "$file")" -gt 2000000 ] && [ "$trace" != "$RECORDED" ] || files+=("$file")
	done
	view chrome "${files[@]}" && $python selftests/export/summary.py marks chrome "${files[@]}" || return 1
	for file in "${files[@]}"; do
		summary_of "$file.decoded" >"$tmp/decoded" && summary_of "$file.viewed" >"$tmp/viewed" && same_text "$tmp/viewed" "$tmp/decoded" ||
			{ echo "$file"; return 1; }
	done
	[ ${#files[@]} -gt 20 ] && jq -e '.samples > 3 and .arrows > 100' "$tmp/viewed"
}

# The stacks of each golden trace; of a run and of a trace with kernel events also each kind of profile
speedscope()
{
	local trace kind files=() file

	for trace in $(valid_golden) "$CORPUS/runs/short-$ORACLE_GO.trace" "$RECORDED"; do
		file=$tmp/${trace##*/}.speedscope
		$READER export speedscope "$trace" -o "$file" && $READER export folded "$trace" | LC_ALL=C sort >"$file.expected" || return 1
		files+=("$file")
	done
	for trace in "$CORPUS/runs/short-$ORACLE_GO.trace" "$RECORDED"; do
		for kind in $KINDS; do
			file=$tmp/${trace##*/}.$kind.pb.gz
			$READER profile "$kind" "$trace" -o "$file" && $REFERENCE/profiles -folded "$file" | LC_ALL=C sort >"$file.expected" || return 1
			[ ! -s "$file.expected" ] || files+=("$file")
		done
	done
	view speedscope "$NPM_PACKAGE" "${files[@]}" || return 1
	for file in "${files[@]}"; do
		LC_ALL=C sort "$file.viewed" >"$tmp/viewed" && same_text "$tmp/viewed" "$file.expected" || { echo "$file"; return 1; }
	done
	[ ${#files[@]} -gt 40 ]
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" && try "the viewer of chrome://tracing is installed" locked install_python &&
	try "speedscope is installed" locked unpack_npm speedscope "$SPEEDSCOPE" dist/release/speedscope-Y2522XSH.js "$SPEEDSCOPE_SHA256" &&
	try "the browser is installed" locked selftests/deps.sh chromium && try "programs trace themselves" trace_short_runs; then
	try "the timeline in chrome://tracing" chrome
	try "stacks in speedscope, from its format and from profiles" speedscope
fi
ktap_end
