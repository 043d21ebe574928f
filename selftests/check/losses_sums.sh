#!/bin/bash
# Sums of traces with lost records: records are taken out of a raw input file by seed, one by one and
# in bursts, 1 to 80 % of them, and the rest is replayed. Each sum that goroutines, latency and export
# folded print differs from that of the whole recording by at most the lost time that they print,
# which is at most twice what is unknown by the sequence numbers of the raw file.
# tier: long
# parallel
# timeout: 1800
# depends on: Makefile include userspace bpf selftests/targets selftests/lost_records.py selftests/rawfile.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

seeds=${SEEDS:-$(by_tier 16 40 200)}

recording() # with goroutines, tasks, system calls and sleeps
{
	record_target varied "$ORACLE_GO" "$EVERY_EVENT --save-input $tmp/varied.raw" -n 300 &&
		[ "$(stat_of lost "$tmp/varied.json")" -eq 0 ]
}

sums()
{
	mkdir -p "$tmp/lost" &&
		python3 -B selftests/lost_records.py "$tmp/varied.raw" "$tmp/lost" "${FIRST:-0}" "$seeds"
}

# A line on stderr and the lost time itself, in each export of a trace with losses; none without.
exports()
{
	local kind trace=$tmp/lossy.trace

	python3 -B selftests/lost_records.py one "$tmp/varied.raw" "$trace" 3 &&
		build/gotrace goroutines --json "$trace" >"$tmp/sums.json" || return 1
	for kind in folded speedscope ndjson chrome perfetto; do
		build/gotrace export $kind "$trace" -o "$tmp/lossy.$kind" 2>"$tmp/err" &&
			grep -qE '^gotrace: .*: records were lost in [0-9]+ gaps?, [0-9.]+ s in all' "$tmp/err" ||
			return 1
		build/gotrace export $kind "$RECORDED" -o "$tmp/whole.$kind" 2>"$tmp/err" &&
			! grep -q 'lost' "$tmp/err" || return 1
	done
	[ "$(awk '/\[lost\] / { n += $NF } END { printf "%.0f\n", n }' "$tmp/lossy.folded")" = \
		"$(jq '[.groups[].lost_ns] | add' "$tmp/sums.json")" ] &&
		! grep -q '\[lost\]' "$tmp/whole.folded" &&
		grep -q '"\[lost\]"' "$tmp/lossy.speedscope" && ! grep -q '"\[lost\]"' "$tmp/whole.speedscope" &&
		[ "$(grep -c '"kind":"Gap"' "$tmp/lossy.ndjson")" = \
			"$(jq '[.traceEvents[] | select(.ph == "B" and .name == "lost")] | length' "$tmp/lossy.chrome")" ] &&
		! grep -q '"name":"lost"' "$tmp/whole.chrome" && grep -qa 'Lost records' "$tmp/lossy.perfetto" &&
		grep -q '"kind":"Gap"' "$tmp/lossy.ndjson" && ! grep -q '"kind":"Gap"' "$tmp/whole.ndjson" &&
		grep -q ' LOST ' <(build/gotrace goroutines "$trace") &&
		grep -q ' LOST ' <(build/gotrace latency "$trace") &&
		! grep -q 'LOST' <(build/gotrace goroutines "$RECORDED"; build/gotrace latency "$RECORDED")
}

ktap_start
try "a recording without losses" recording
try "sums of $seeds traces with losses" sums
note "$(tail -n 1 "$tmp/try.out")"
try "exports and tables" exports
ktap_end
