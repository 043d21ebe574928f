#!/bin/bash
# The sequencer against losses: records of a simulated Go scheduler, whole and then with some of them
# dropped, sent twice, swapped, late or broken, go through the real sequencer and writer, built with
# ASan and UBSan. Whole ones must come out to the last event, without a repair; every file must
# be accepted by Go's reader. To see a variant again:
#
#     build/san/replay/mutate -seed SEED -first VARIANT -n 1 -v -dump -o /tmp
#     build/reference/validate -strict /tmp/VARIANT.trace
# timeout: 600
. "$(dirname "$0")/../lib.sh"

seed=20260917 whole=1000 mutated=5000 of_recording=500
mutate=build/san/replay/mutate

build()
{
	local objects=()

	for source in selftests/replay/*.c; do
		objects+=("build/san/obj/${source%.c}.o")
	done
	make --no-print-directory "-j$(nproc)" reference &&
	make --no-print-directory "-j$(nproc)" SAN=1 lib "${objects[@]}" &&
	mkdir -p "$(dirname $mutate)" &&
	"${CC:-cc}" -fsanitize=address,undefined "${objects[@]}" build/san/libgotrace.a \
		$(make_variable LIBS) -o $mutate
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
		xargs -0 -n 500 -P "$(nproc)" build/reference/validate -strict >"$tmp/validate" 2>&1
	if [ "$(grep -c '\.trace: ok, ' "$tmp/validate")" -eq "$count" ]; then
		ok "$name: Go's reader accepts all $count"
	else
		note "seed $seed, $mutate $*; of $count files $(grep -c '\.trace: ok, ' "$tmp/validate") accepted:"
		note "$(grep -a -A 3 'REFUSED\|panic' "$tmp/validate" | head -n 40)"
		not_ok "$name: Go's reader accepts all $count"
	fi
}

ktap_start
if try "the simulator builds" build; then
	variants "whole" $whole -clean
	variants "mutated" $mutated
	for raw in selftests/replay/*.raw; do
		[ -e "$raw" ] && variants "recorded: $(basename "$raw" .raw)" $of_recording -from "$raw"
	done
fi
ktap_end
