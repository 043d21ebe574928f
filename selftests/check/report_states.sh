#!/bin/bash
# A trace in which each state of goroutines, threads and CPUs occurs for a known time: the times in the
# data of `gotrace report` and in exports, the same in `gotrace latency`, and the pixels of the pages of
# `gotrace report` and `gotrace view` in Debian's Chromium, in light and dark: the color of each state, and
# its share of the area, also of merged intervals. With a mistake in the page's script, the comparison of
# pixels fails.
# parallel
# timeout: 400
# depends on: Makefile include userspace selftests/browser.py selftests/export selftests/report selftests/reference
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh
. selftests/export.lib.sh

PACKAGES=(chromium python3-websockets)

states() { command timeout $((150 * ${stretch:-1})) /usr/bin/python3 selftests/report/states.py "$@"; }

makes()
{
	states make "$tmp/trace" "$tmp/truth" && check_trace "$tmp/trace" && $READER report --json "$tmp/trace" >"$tmp/data" &&
		$READER view --spans 1000 --json "$tmp/trace" >"$tmp/merged" && $READER report "$tmp/trace" -o "$tmp/page.html"
}

exports()
{
	local kind

	for kind in perfetto chrome; do
		$READER export "$kind" "$tmp/trace" -o "$tmp/$kind" --force && $python selftests/export/summary.py "$kind" "$tmp/$kind" >"$tmp/$kind.json" || return 1
	done
	same_text "$tmp/perfetto.json" "$tmp/chrome.json" && states export "$tmp/chrome" "$tmp/truth"
}

# The parts of goroutine 1's time, in ms; it has no event after the loss of Go's events, at 641 ms
parts()
{
	$READER latency --all --json "$tmp/trace" | jq -e '.goroutines[] | select(.id == 1) |
		[.oncpu_ns, .go_runnable_ns, .kernel_runnable_ns, .throttled_ns, .kernel_blocked_ns, .syscall_blocked_ns, .go_blocked_ns, .unknown_ns, .lost_ns] |
		map(. / 1e6 | round) == [381, 120, 40, 0, 0, 0, 100, 0, 359]'
}

merged()
{
	states page "$tmp/page.html" "$tmp/merged" >"$tmp/merged.html" && jq -e 'any(.limits[]; contains("merged"))' "$tmp/merged" &&
		states pixels "file://$PWD/$tmp/merged.html" "$tmp/merged" "$tmp/truth"
}

view()
{
	local status

	$READER view "$tmp/trace" >"$tmp/url" 2>"$tmp/log" </dev/null &
	server=$!
	background+=("$server")
	wait_until 20 test -s "$tmp/url" && states pixels "$(cat "$tmp/url")" "$tmp/data" "$tmp/truth"
	status=$?
	kill "$server"
	return $status
}

# DATA MUTANT TEXT: the pixels differ from what is expected, with a line that contains TEXT
detects()
{
	states page "$tmp/page.html" "$tmp/$1" "$2" >"$tmp/mutant.html" || return 1
	! states pixels "file://$PWD/$tmp/mutant.html" "$tmp/$1" "$tmp/truth" >"$tmp/said" && cat "$tmp/said" && grep -q "$3" "$tmp/said"
}

ktap_start
if try "the reader builds" build_reader && try "the browser and schemas are installed" locked eval 'selftests/deps.sh "${PACKAGES[@]}" && install_python' &&
	try "each state in a trace" makes; then
	try "times in the data" states totals "$tmp/data" "$tmp/truth"
	try "times after merging" states totals "$tmp/merged" "$tmp/truth"
	try "exports: slices" exports
	try "parts of the time" parts
	try "colors" states colors "$tmp/data"
	try "pixels of a report" states pixels "file://$PWD/$tmp/page.html" "$tmp/data" "$tmp/truth"
	try "pixels of merged intervals" merged
	try "pixels of a view" view
	try "a page with two states swapped" detects data swapped 'runnable has 0.180 of the area, expected 0.820'
	try "a page that ignores durations" detects data durations 'from 10 to 390 ms: running has'
	try "a page that ignores shares of merged intervals" detects merged shares 'from 10 to 390 ms'
	try "a page that tints up to the greatest value" detects data tint 'the overview is tinted up to 30.0 pixels, expected 23.3'
	try "a page that omits unknown states" detects data unknown 'kernel-unknown has 0.000 of the area, expected 1.000'
fi
ktap_end
