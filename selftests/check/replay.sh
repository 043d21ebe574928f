#!/bin/bash
# Tests the sequencer with losses. Records of a simulated Go scheduler and of real programs,
# complete and then with some records dropped, duplicated, swapped, delayed or corrupted, go through
# the sequencer and writer, built with ASan and UBSan. Complete recordings must give every event,
# without a repair, whatever the number of rings; all must give the same trace again from their raw
# file; a raw file with corrupt bytes must not cause a crash; Go's reader must accept every trace.
# To reproduce a variant (of a real program with -from FILE.raw, which stays in build/tmp after a
# failure):
#
#     build/san/replay/mutate -seed SEED -first VARIANT -n 1 -v -dump -o /tmp
#     build/reference/validate -strict /tmp/VARIANT.trace
# tier: all
# parallel
# timeout: 600
# long: 3600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/losses.lib.sh

seed=20260917
lossy_seed=$seed lossy=${LOSSY:-200}
read -r whole mutated broken of_recording <<<"${VARIANTS:-$(by_tier "200 500 200 100" "200 500 200 100" "2000 13000 5000 4000")}"
mutate=build/san/replay/mutate
strict=-strict # -strict rejects what Go's reader cannot check: see validate

build()
{
	locked make --no-print-directory "-j$(nproc)" all reference \
		$(printf 'build/targets/%s/selftrace ' $TARGET_GOS) &&
	locked make --no-print-directory "-j$(nproc)" SAN=1 $mutate
}

# NAME COUNT OPTION...: two halves in parallel, then the reader on all of them
variants()
{
	local name=$1 count=$2 half=$(($2 / 2)) folder=$tmp/files first pids=() bad=0
	shift 2

	rm -rf "$folder"
	mkdir -p "$folder"
	for first in 0 $half; do
		$mutate -seed $seed -first $first -n $((first ? count - half : half)) "$@" -o "$folder" \
			>"$tmp/mutate.$first" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	if [ $bad -ne 0 ]; then
		note "seed $seed, $mutate $*:"
		note "$(grep -hv ' variants, peak memory' "$tmp"/mutate.* | head -n 40)"
	fi
	[ $bad -eq 0 ] && ok "$name: the sequencer" || not_ok "$name: the sequencer"

	find "$folder" -name '*.trace' -print0 | sort -z |
		xargs -0 -n 500 -P "$(nproc)" build/reference/validate $strict >"$tmp/validate" 2>&1
	find "$folder" -name '*.trace' -print0 | sort -z | xargs -0 -n 500 build/gotrace check >"$tmp/ours" 2>&1
	if [ "$(grep -c '\.trace: ok, ' "$tmp/ours")" -eq "$count" ]; then
		ok "$name: gotrace check accepts all $count"
	else
		note "seed $seed, $mutate $*; of $count files $(grep -c '\.trace: ok, ' "$tmp/ours") accepted:"
		note "$(grep -av '\.trace: ok, ' "$tmp/ours" | head -n 40)"
		not_ok "$name: gotrace check accepts all $count"
	fi
	if [ "$(grep -c '\.trace: ok, ' "$tmp/validate")" -eq "$count" ]; then
		ok "$name: Go's reader accepts all $count"
	else
		note "seed $seed, $mutate $*; of $count files $(grep -c '\.trace: ok, ' "$tmp/validate") accepted:"
		note "$(grep -a -A 3 'REFUSED\|panic' "$tmp/validate" | head -n 40)"
		not_ok "$name: Go's reader accepts all $count"
	fi
}

# GO: makes $tmp/GO.raw
real_program()
{
	record_target selftrace "$1" "--save-input $tmp/$1.raw" -trace "$tmp/own.trace" -duration 300ms
}

ktap_start
if try "the simulator builds" build; then
	variants "whole" $whole -clean -raw
	variants "whole, without short system calls" $((whole / 2)) -clean -raw -min 1000000
	variants "1, 8 and 64 rings" $((whole / 4)) -clean -layouts
	variants "mutated" $mutated -raw
	lossy_variants "lost" $lossy 0 -losses -raw # correct again after the loss, also from the raw file
	variants "mutated, without short system calls" $((mutated / 4)) -raw -min 100000
	lossy_variants "lost, without short system calls" $((lossy / 4)) 0 -losses -min 100000
	variants "mutated, in 64 rings" $((mutated / 4)) -rings 64
	strict='' variants "broken raw files" $broken -broken # the variants may lack their symbols
	strict='' variants "broken raw files, with losses" $((broken / 4)) -losses -broken
	for go in $TARGET_GOS; do
		try "$go: records a program" real_program "$go" || continue
		variants "$go: whole" 8 -clean -raw -from "$tmp/$go.raw" # all versions and ticks
		variants "$go: mutated" $of_recording -records 6000 -from "$tmp/$go.raw"
	done
fi
ktap_end
