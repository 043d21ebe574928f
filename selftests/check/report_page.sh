#!/bin/bash
# The page of `gotrace report` and `gotrace view` in Debian's Chromium: it shows the names of goroutines as
# text, has no error, fits screens of 375, 1280 and 2560 pixels in light and dark, and answers keys, links
# and the search; names that are HTML are shown, not interpreted. CPU samples of a trace without their rate are counts.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/browser.py selftests/report selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/reader.lib.sh

PACKAGES=(chromium python3-websockets)

in_browser() # [--text|--answers] URL [NAME...]
{
	timeout 150 /usr/bin/python3 selftests/report/page.py "$@" >"$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
	note "$(cat "$tmp/said")"
}

report()
{
	record_target selftrace "$ORACLE_GO" "" -duration $(by_tier 200ms 1s 1s) $FEW_SYSCALLS && build/gotrace report "$RECORDED" -o "$tmp/page.html" &&
		in_browser "file://$PWD/$tmp/page.html" runtime.bgsweep "$(build/gotrace goroutines --all --json "$RECORDED" | jq -r "[.goroutines[].name | select(startswith(\"main.\"))][0]")"
}

# The thin strips of the lanes, computed a second way from single events
kernel_states()
{
	build/gotrace view --json --spans 10000000 "$RECORDED" >"$tmp/data" && build/gotrace events --kernel --json "$RECORDED" >"$tmp/events" &&
		/usr/bin/python3 selftests/report/timeline.py kernel "$tmp/data" "$tmp/events" >"$tmp/said" || { cat "$tmp/said"; return 1; }
	note "$(cat "$tmp/said")"
}

run_queue()
{
	build/gotrace export chrome "$RECORDED" -o "$tmp/export" &&
		/usr/bin/python3 selftests/report/timeline.py runqueue "$tmp/data" "$tmp/export"
}

# Those of docs/, of this page
pictures()
{
	local name

	mkdir "$tmp/pictures" && timeout 150 /usr/bin/python3 selftests/report/pictures.py "file://$PWD/$tmp/page.html" "$tmp/pictures" || return 1
	for name in report report-request; do
		[ "$(head -c 4 "$tmp/pictures/$name.png" | tail -c 3)" = PNG ] || return 1
	done
}

hostile_names()
{
	/usr/bin/python3 selftests/report/made_pages.py hostile "$tmp/page.html" >"$tmp/hostile.html" &&
		in_browser $(by_tier --text "" "") "file://$PWD/$tmp/hostile.html" '<img src=x onerror='
}

# As many spans as the page of a trace of ten million events has
million_spans()
{
	/usr/bin/python3 selftests/report/made_pages.py large "$tmp/page.html" 1000000 >"$tmp/large.html" &&
		in_browser "file://$PWD/$tmp/large.html" main.function7
}

merged_kernel_states() # URL, after kernel_states()
{
	local ns

	ns=$(jq .trace.ns "$tmp/data") && curl -s -m 30 "$1range.json?from=$((ns / 5))&to=$ns&width=1" >"$tmp/part" &&
		/usr/bin/python3 selftests/report/timeline.py sums "$tmp/data" "$tmp/part" $((ns / 5)) "$ns"
}

# CPU samples as time, and as counts without the rate; the page must not take one of them for the other.
samples()
{
	local ns n

	record_target spin "$ORACLE_GO" --cpu-profile=997 -duration 100ms && n=$($READER stat --json "$RECORDED" | jq -e '.samples | select(. > 0)') &&
		ns=$((n * $($READER stat --json "$RECORDED" | jq .private.cpu_samples.period_ns))) && without_rate "$RECORDED" "$tmp/unrated.trace" &&
		$READER report "$RECORDED" -o "$tmp/rated.html" && $READER report "$tmp/unrated.trace" -o "$tmp/unrated.html" || return 1
	shows_samples known rated "$ns" && shows_samples unknown unrated "$n" || return 1
	[ "$TIER" != check ] || return 0
	if shows_samples known unrated "$n" || shows_samples unknown rated "$ns" || shows_samples unknown unrated $((n + 1)); then
		echo "a wrong rate or number is accepted"
		return 1
	fi
}

shows_samples() # known|unknown PAGE TOTAL
{
	timeout 100 /usr/bin/python3 selftests/report/rate.py "$1" "file://$PWD/$tmp/$2.html" "$3"
}

view()
{
	local url status

	start_background build/gotrace view "$RECORDED" && wait_until 30 messages '^http://' || return 1
	url=$(sed -n 's,^\(http://[^ ]*\).*,\1,p' "$tmp/background.out" | head -n 1)
	in_browser $(by_tier --answers "" "") "$url" && merged_kernel_states "$url"
	status=$?
	kill "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	return $status
}

ktap_start
if ! try "the browser is installed" locked selftests/deps.sh "${PACKAGES[@]}"; then
	try "CPU samples with and without their rate" samples
ktap_end
fi
try "a report" report
try "the kernel's states under goroutines are those of the events" kernel_states
in_all try "the run queue over time is that of an export" run_queue
in_all try "the pictures of the documentation can be made again" pictures
try "names that are HTML" hostile_names
in_all try "a million spans" million_spans
try "a view" view
try "CPU samples with and without their rate" samples
ktap_end
