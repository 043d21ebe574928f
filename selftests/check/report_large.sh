#!/bin/bash
# The pages of `gotrace report` and `gotrace view` for a recording of ten million events: in Debian's Chromium,
# with all checks of selftests/check/report_page.sh; figures equal those of other commands, and parts of the
# timeline have the exact times of the whole. Prints sizes, memory and times. `EVENTS=1000000` makes it short.
# tier: long
# timeout: 3600
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

EVENTS=${EVENTS:-10000000}
PAGE_MAX=$((30 << 20))

figure() { printf '%s\n' "$*" >>"$tmp/figures"; }

# Two goroutines that wake each other: each longer recording has more events.
recording()
{
	local seconds=4 events

	while record_target pingpong "$ORACLE_GO" "" -duration ${seconds}s -procs 2; do
		events=$(build/gotrace stat --json "$RECORDED" | jq .events)
		figure "the recording: $events events, $(stat -c %s "$RECORDED") bytes"
		[ "$events" -lt "$EVENTS" ] || return 0
		seconds=$((seconds * 2))
	done
	return 1
}

in_browser() # NAME URL
{
	timeout 600 /usr/bin/python3 selftests/report/page.py "$2" main. >"$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
	figure "$1: $(paste -sd ';' "$tmp/said")"
}

report()
{
	local size

	/usr/bin/time -o "$tmp/time" -f "report: %e s, %U s + %S s of CPU time, %M KB of memory" build/gotrace report "$RECORDED" -o "$tmp/page.html" &&
		figure "$(cat "$tmp/time")" && size=$(stat -c %s "$tmp/page.html") &&
		figure "report: a page of $size bytes" && [ "$size" -lt $PAGE_MAX ] && in_browser report "file://$PWD/$tmp/page.html"
}

# As check/report.sh compares the figures of small traces
figures_are_equal()
{
	TRACE=$RECORDED bash selftests/check/report.sh >"$tmp/compared" 2>&1 || { cat "$tmp/compared"; return 1; }
	grep -qx 'ok [0-9]* figures equal those of other commands' "$tmp/compared"
}

states_are_equal()
{
	build/gotrace view --json --spans 10000000 "$RECORDED" >"$tmp/data" && build/gotrace goroutines --all --json "$RECORDED" >"$tmp/goroutines" &&
		/usr/bin/python3 selftests/report/timeline.py states "$tmp/data" "$tmp/goroutines"
}

serve() # [OPTION...]: sets url
{
	local started=$SECONDS

	start_background build/gotrace view "$@" "$RECORDED" && wait_until 300 messages '^http://' || return 1
	url=$(sed -n 's,^\(http://[^ ]*\).*,\1,p' "$tmp/background.out" | head -n 1)
	figure "view $*: served after $((SECONDS - started)) s"
}

stop()
{
	figure "view: $(resident) KiB of memory"
	kill "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
}

# Of 1/10000 of the trace to all of it, at eight places
ranges()
{
	local ns part place from to took worst=0

	curl -s -m 60 "${url}data.json" >"$tmp/served" && ns=$(jq .trace.ns "$tmp/served") || return 1
	for part in 10000 1000 100 10 3 1; do
		for place in 0 1 2 3 4 5 6 7; do
			from=$(((ns - ns / part) * place / 7)) to=$(((ns - ns / part) * place / 7 + ns / part))
			took=$(curl -s -m 60 -f -o "$tmp/part" -w '%{time_total}' "${url}range.json?from=$from&to=$to&width=1500") || return 1
			worst=$(jq -n "[$took, $worst] | max")
		done
	done
	figure "view: 48 ranges, each answered within $worst s"
}

RANGES="9:100 2:3000 3:1000000" # begin at a fraction of the trace, and last for a fraction of it

totals() # NAME: of the lanes of these ranges, into files
{
	local ns range from

	ns=$(jq .trace.ns "$tmp/served")
	for range in $RANGES; do
		from=$((ns / ${range%:*}))
		curl -s -m 60 -f "${url}range.json?from=$from&to=$((from + ns / ${range#*:}))&width=10000" |
			jq -cS '.lanes[] | select(.kind != "cpu") | { id, totals, kernel_totals }' | sort >"$tmp/$1.$range" && [ -s "$tmp/$1.$range" ] || return 1
	done
}

# With little memory, ranges are cut out of the file and read as a trace of their own, which lacks goroutines that
# do nothing meanwhile, and what is on a CPU until that changes.
same_as_file()
{
	local range

	totals memory && stop && serve --cache 64K && totals file && stop || return 1
	for range in $RANGES; do
		! comm -13 "$tmp/memory.$range" "$tmp/file.$range" | grep . &&
			comm -23 "$tmp/memory.$range" "$tmp/file.$range" | jq -se 'all(.[]; (.totals | length) == 1 and .kernel_totals == null)' >/dev/null || return 1
	done
}

ktap_start
if ! try "the browser is installed" locked selftests/deps.sh chromium python3-websockets; then
	ktap_end
fi
if try "a recording of $EVENTS events" recording; then
	try "a report" report
	try "figures equal those of other commands" figures_are_equal
	try "states of goroutines equal those of another command" states_are_equal
	if try "the server starts" serve; then
		try "ranges are answered" ranges
		try "a view" in_browser view "$url"
		try "ranges in memory are those of the file" same_as_file
	fi
fi
note "$(cat "$tmp/figures")"
ktap_end
