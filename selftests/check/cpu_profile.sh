#!/bin/bash
# Compares the CPU profile of a recording with the one that the program itself writes with runtime/pprof in the same
# run: the shares of the 30 functions with the most samples must not differ more than two samples of the same run do, by
# the chi-square test of homogeneity. At the level of 0.001 one of 1000 runs fails by chance, however many samples it
# has. The profile of a run that does half of the works must be told apart.
#
# Both are random samples of the same calls: the order of the works is random with a fixed seed, and each takes less time
# than passes between two samples. Preemption by signals is off, because samples of runtime/pprof that come at the
# same time count for the functions that handle these.
# tier: all
# parallel
# timeout: 300
# long: 1200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

CPU_SECONDS=${CPU_SECONDS:-$(by_tier 6 6 60)}

# ours has five samples where the program has one
same_run()
{
	local status

	export GODEBUG=asyncpreemptoff=1
	record_target profiled "$ORACLE_GO" '--events cpu --cpu-profile=500' -profile "$tmp/own.pb.gz" -cpu "${CPU_SECONDS}s" &&
		$READER profile cpu --rate 500 "$RECORDED" -o "$tmp/ours.pb.gz" || return 1
	$REFERENCE/sampled -top 30 -alpha 0.001 "$tmp/ours.pb.gz" "$tmp/own.pb.gz" >"$tmp/result"
	status=$?
	jq -c '{ours, theirs, statistic, freedom, probability}' "$tmp/result"
	jq -r '.functions[] | "\(.ours) \(.theirs) \(.function)"' "$tmp/result"
	jq -e --argjson cpu "$CPU_SECONDS" '.freedom == 30 and .ours > 400 * $cpu and .theirs > 75 * $cpu' "$tmp/result" && return $status
}

another_run()
{
	GODEBUG=asyncpreemptoff=1 build/targets/"$ORACLE_GO"/profiled -profile "$tmp/unsorted.pb.gz" -cpu 2s -works 7 </dev/null &&
		! $REFERENCE/sampled "$tmp/ours.pb.gz" "$tmp/unsorted.pb.gz" >"$tmp/result" && jq -e '.freedom == 30' "$tmp/result"
}

ktap_start
if try "the reader builds" build_reader; then
	try "the CPU profile is that of runtime/pprof in the same run" same_run && note "$(head -n 1 "$tmp/try.out")"
	try "that of another run differs" another_run
fi
ktap_end
