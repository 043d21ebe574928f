#!/bin/bash
# Loads what `gotrace export perfetto` writes into Perfetto's trace processor, and asks it with SQL for slices, counters,
# arrows and samples. The answers are those of the decoder in selftests/export/summary.py, which export.sh compares with
# the timeline for Chrome, and equal the sums of other commands and of single events.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/browser.py selftests/export selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/export.lib.sh

# NAME TRACE...: $tmp/NAME-1.sql and so on are the answers for these traces, which are what the decoder finds.
ask()
{
	local name=$1 trace files=() file
	shift

	for trace; do
		file=$tmp/$name-$((${#files[@]} + 1))
		$READER export perfetto "$trace" -o "$file" || return 1
		files+=("$file")
	done
	timeout 200 $python selftests/export/trace_processor.py "${files[@]}" && $python selftests/export/summary.py marks perfetto "${files[@]}" || return 1
	for file in "${files[@]}"; do
		jq -S . "$file.decoded" >"$tmp/decoded" && jq -S . "$file.sql" >"$tmp/answered" && same_text "$tmp/answered" "$tmp/decoded" || { echo "$file: $*"; return 1; }
	done
}

golden()
{
	local traces

	mapfile -t traces < <(valid_golden)
	[ ${#traces[@]} -gt 10 ] && ask golden "${traces[@]}"
}

runs() # of each Go release
{
	local go trace traces=() n=0

	for go in $READER_GOS; do
		traces+=("$CORPUS/runs/short-$go.trace" "$CORPUS/runs/few-$go.trace")
	done
	ask run "${traces[@]}" || return 1
	for trace in "${traces[@]}"; do
		n=$((n + 1))
		same_states "$tmp/run-$n.sql" "$trace" && same_events "$tmp/run-$n.sql" "$trace" || { echo "$trace"; return 1; }
		[[ $trace != */short-* ]] || jq -e '.unblock > 10 and .create > 10' "$tmp/sums" || return 1
	done
}

recorded() # with kernel events and CPU samples
{
	record_target selftrace "$ORACLE_GO" --cpu-profile=500 -duration 300ms $FEW_SYSCALLS && ask recorded "$RECORDED" &&
		same_states "$tmp/recorded-1.sql" "$RECORDED" && same_events "$tmp/recorded-1.sql" "$RECORDED" && same_samples "$tmp/recorded-1.sql" "$RECORDED" &&
		jq -e '(.slices.CPUs | length > 0) and (.slices.Threads | length > 0) and .arrows["wake up"] > 10' "$tmp/recorded-1.sql"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" && try "the trace processor is installed" locked install_python &&
	try "the browser is installed" locked selftests/deps.sh chromium && try "programs trace themselves" trace_short_runs; then
	try "golden traces" golden
	try "runs of each Go release: as gotrace goroutines, and as single events" runs
	try "a trace of gotrace-bpf: the same, and as the CPU profile" recorded
fi
ktap_end
