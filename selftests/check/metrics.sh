#!/bin/bash
# Checks `gotrace metrics`: every sample equals what latency, requests, histogram, stat and events say of
# the same trace, to the nanosecond; requests and errors equal what the program counted; the same trace
# in generations gives the same, with and without the thread of a recorder; the text is read by the
# OpenMetrics parser of Prometheus' client library, and by a Prometheus if there is one.
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/metrics
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/servers.lib.sh
. selftests/reader.lib.sh
. selftests/metrics.lib.sh

STREAM=build/selftests/metrics

builds()
{
	build_reader && locked make --no-print-directory "-j$(nproc)" $STREAM build/targets/"$ORACLE_GO"/requests
}

equal() # TRACE
{
	$READER metrics "$1" >"$tmp/metrics" && metrics_equal "$tmp/metrics" "$1"
}

# The comparison fails if any one sample is another.
detects() # TRACE: of `equal`
{
	local names name wrong=0

	names=$(sed 's/[{ ].*//' "$tmp/wanted" | sort -u)
	for name in $names; do
		sed "0,/^gotrace_${name}[{ ]/s/^\(gotrace_${name}[{ ].*\)\(.\)\$/\17\2/" "$tmp/metrics" >"$tmp/changed"
		samples_of "$tmp/changed" | cmp -s - <(samples_of "$tmp/metrics") && { echo "$name did not change"; wrong=1; }
	done
	[ "$(wc -w <<<"$names")" -ge 20 ] && [ $wrong -eq 0 ]
}

# Names of these metrics: what the trace must contain so that the comparison says something
has() # NAME...
{
	local name

	for name in "$@"; do
		grep -q "^gotrace_${name}[{ ].*[1-9]" "$tmp/metrics" || { echo "no $name"; return 1; }
	done
}

counted() # the requests and errors that the target itself has counted
{
	jq -r '.requests | to_entries[] | "\(.key) \(.value.count) \(.value.errors)"' "$tmp/requests.done" | sort >"$tmp/theirs"
	awk -F'[{"}]' '/^gotrace_request_duration_seconds_count/ { n[$3] = substr($5, 2) }
		/^gotrace_request_errors_total/ { e[$3] = substr($5, 2) }
		END { for (name in n) print name, n[name], e[name] }' "$tmp/metrics" | sort >"$tmp/ours"
	[ -s "$tmp/theirs" ] && same_text "$tmp/ours" "$tmp/theirs"
}

# The order of series within a family may differ: theirs is that in which they appeared.
# FILE...: prints the first one; where one of them has the name "other", all names of that metric and state as one. The
# first names have a series each, and in which order they come depends on what is read at once.
with_others()
{
	awk '{ at = index($0, "reason=\""); metric = at ? substr($0, 1, at - 1) : $0 }
		/reason="other"/ { others[metric] }
		FILENAME == ARGV[1] { line[++n] = $0; of[n] = metric }
		END { for (i = 1; i <= n; i++) if (of[i] in others) sum[of[i]] += substr(line[i], match(line[i], /[^ ]*$/)); else print line[i]
			for (metric in sum) printf "%sall of them} %.9f\n", metric, sum[metric] }' "$@" | sort
}

in_generations() # TRACE [OPTION]: the trace has several
{
	[ "$($READER stat --json "$1" | jq '.generations | length')" -ge 2 ] || { echo "one generation"; return 1; }
	$READER metrics "$1" | sort >"$tmp/whole" && $STREAM ${2-} "$1" 2>"$tmp/figures" | sort >"$tmp/parts" || return 1
	cat "$tmp/figures"
	with_others "$tmp/parts" "$tmp/whole" >"$tmp/of_parts" && with_others "$tmp/whole" "$tmp/parts" >"$tmp/of_whole" &&
		same_text "$tmp/of_parts" "$tmp/of_whole"
}

# A corrupt generation is left out and counted, and what follows it is analysed: requests are as in a
# trace without it. NUMBER: of the generation
without_one() # TRACE NUMBER
{
	local events left

	$STREAM --corrupt "$2" "$1" >"$tmp/metrics" 2>/dev/null || return 1
	events=$($READER stat --json "$1" | jq ".generations[$2 - 1].events, .events" | paste -sd' ')
	left=$(sed -n 's/^gotrace_events_total //p' "$tmp/metrics")
	echo "$left events are left of $events"
	grep -qx 'gotrace_dropped_generations_total 1' "$tmp/metrics" && grep -qx 'gotrace_restarts_total 1' "$tmp/metrics" &&
		[ "$left" -eq $((${events#* } - ${events% *})) ]
}

parses()
{
	/usr/bin/python3 selftests/metrics/parse.py "$tmp/metrics" >"$tmp/samples" &&
		[ "$(cat "$tmp/samples")" -eq "$(grep -vc '^#' "$tmp/metrics")" ]
}

# A Prometheus that scrapes the file from a server has the same value of a counter.
is_scraped()
{
	local port=9391

	mkdir -p "$tmp/www" && cp "$tmp/metrics" "$tmp/www/metrics" && unpack_server prometheus usr/bin/prometheus || return 1
	cat >"$tmp/server.py" <<-END
		import http.server, functools
		class H(http.server.SimpleHTTPRequestHandler):
		    def guess_type(self, path):
		        return "application/openmetrics-text; version=1.0.0; charset=utf-8"
		http.server.HTTPServer(("127.0.0.1", $port), functools.partial(H, directory="$tmp/www")).serve_forever()
	END
	printf 'scrape_configs: [{job_name: g, scrape_interval: 1s, static_configs: [{targets: ["127.0.0.1:%s"]}]}]\n' \
		$port >"$tmp/prometheus.yml"
	start_background /usr/bin/python3 "$tmp/server.py"
	start_background "$SERVER" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" \
		--web.listen-address=127.0.0.1:9392
	wait_until 30 has_scraped || { tail -n 5 "$tmp/background.out"; return 1; }
	ask 'gotrace_events_total' | jq -r '.data.result[0].value[1]' >"$tmp/scraped"
	ask 'scrape_samples_post_metric_relabeling' | jq -r '.data.result[0].value[1]' >>"$tmp/scraped"
	{ sed -n 's/^gotrace_events_total //p' "$tmp/metrics"; grep -vc '^#' "$tmp/metrics"; } | diff "$tmp/scraped" -
}

ask() # QUERY
{
	curl -sG http://127.0.0.1:9392/api/v1/query --data-urlencode "query=$1"
}

has_scraped()
{
	ask 'gotrace_events_total' | jq -e '.data.result | length == 1' &&
		ask 'scrape_samples_post_metric_relabeling' | jq -e '.data.result | length == 1'
}

ktap_start
if try "the programs build" builds && try "the parser is installed" selftests/deps.sh python3-prometheus-client; then
	if try "a server with tasks is recorded" record_target requests "$ORACLE_GO" "$EVERY_EVENT" -n $(by_tier 40 400 400); then
		try "every sample equals the other commands" equal "$RECORDED"
		try "the trace has what is compared" has request_duration_seconds_count request_errors_total \
			request_cpu_seconds_total gc_cycle_seconds_count stw_pause_seconds_count run_queue_delay_seconds_count \
			wait_seconds_total logs_total heap_bytes kernel_events_total
		try "the comparison notices each metric" detects
		try "requests and errors are those that the program counted" counted
		try "the text is OpenMetrics" parses
		in_all try "in generations: the same" in_generations "$RECORDED" # so few requests as in check end within one
		in_all try "a Prometheus scrapes it" is_scraped
	fi
	trace_long_runs >/dev/null && trace_short_runs >/dev/null
	try "a trace of runtime/trace: every sample" equal "$CORPUS/runs/short-$ORACLE_GO.trace"
	try "a trace of runtime/trace: OpenMetrics" parses
	try "a corrupt generation is left out" without_one "$CORPUS/runs/long-$ORACLE_GO.trace" 1
	for go in $READER_GOS; do
		try "$go: in generations" in_generations "$CORPUS/runs/long-$go.trace"
		try "$go: by the thread of a recorder" in_generations "$CORPUS/runs/long-$go.trace" --thread
	done
fi
ktap_end
