#!/bin/bash
# The sequencer against losses: records of a simulated Go scheduler and of real programs, whole and
# then with some of them dropped, sent twice, swapped, late or broken, go through the real sequencer
# and writer, built with ASan and UBSan. Whole ones must come out to the last event, without a
# repair, and the same whatever the number of rings; all must come out the same again from their raw
# file; a raw file with broken bytes does no harm; every trace must be accepted by Go's reader. To see a variant again (of a real program with -from FILE.raw,
# which stays in build/tmp after a failure):
#
#     build/san/replay/mutate -seed SEED -first VARIANT -n 1 -v -dump -o /tmp
#     build/reference/validate -strict /tmp/VARIANT.trace
# beside others
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/losses.lib.sh

seed=20260917
lossy_seed=$seed lossy=${LOSSY:-200}
read -r whole mutated broken of_recording <<<"${VARIANTS:-200 500 200 100}"
mutate=build/san/replay/mutate
strict=-strict # what Go's reader cannot know: see validate

build()
{
	locked make --no-print-directory "-j$(nproc)" all reference \
		$(printf 'build/targets/%s/selftrace ' $TARGET_GOS) &&
	locked make --no-print-directory "-j$(nproc)" SAN=1 $mutate
}

# NAME COUNT OPTION...: two halves at once, then the reader on all of them
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
	record_target selftrace "$1" "--raw $tmp/$1.raw" -trace "$tmp/own.trace" -duration 300ms
}

ktap_start
if try "the simulator builds" build; then
	variants "whole" $whole -clean -raw
	variants "1, 8 and 64 rings" $((whole / 4)) -clean -layouts
	variants "mutated" $mutated -raw
	lossy_variants "lost" $lossy 0 -losses -raw # and right again after it
	variants "mutated, in 64 rings" $((mutated / 4)) -rings 64
	strict='' variants "broken raw files" $broken -broken # their symbols may be gone
	strict='' variants "broken raw files, with losses" $((broken / 4)) -losses -broken
	for go in $TARGET_GOS; do
		try "$go: records a program" real_program "$go" || continue
		variants "$go: whole" 8 -clean -raw -from "$tmp/$go.raw" # all versions and ticks
		variants "$go: mutated" $of_recording -records 6000 -from "$tmp/$go.raw"
	done
fi
ktap_end
