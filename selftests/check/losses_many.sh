#!/bin/bash
# 20,000 variants of lost records (every n-th of each kind, bursts, a ring or a thread for a time,
# in each phase, with and without system call probes, all formats and ticks) and 500 recordings with
# real losses. x/exp/trace, `go tool trace` of the newest release and of the oldest that supports
# the format, and `gotrace check` must accept all. To reproduce a variant:
#
#     build/san/replay/mutate -losses -raw -seed SEED -first VARIANT -n 1 -v -dump -o /tmp
# tier: long
# timeout: 5400
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/losses.lib.sh

read -r replayed recorded <<<"${LOSSES:-20000 500}"
lossy_seed=${LOSSES_SEED:-20261121}
step=2000 # number of files on disk at a time

build()
{
	make --no-print-directory "-j$(nproc)" all reference "build/targets/$ORACLE_GO/many" &&
		make --no-print-directory "-j$(nproc)" SAN=1 build/san/replay/mutate
}

# N: the options of the N-th recording
options_of()
{
	local size=16K sizes=(16K 32K 64K 128K 256K) formats=(1.22 1.23 1.25 1.26) ticks=(1ns 64ns) rare=""

	case $(($1 % 7)) in
	1) rare="--events=sched" ;;
	2) rare="--no-stacks" ;;
	3) rare="--events=sched,gc" ;;
	4) rare="--stack-depth=3" ;;
	esac
	[ $(($1 % 3)) -ne 0 ] || size=${sizes[$1 % 5]} # the recorder is stopped: any size is too small
	echo "--ring-size=$size --format-version=${formats[$1 % 4]}" \
		"--tick=${ticks[$1 / 4 % 2]} $rare"
}

# N: records the target briefly; in every third recording the recorder is stopped for a while
one_recording()
{
	local file=$tmp/files/$1.trace pid ms=$((150 + $1 * 37 % 500))

	[ $(($1 % 3)) -ne 0 ] || ms=$((ms + 600))

	timeout 60 $GOTRACE record -p "$TARGET_PID" -d ${ms}ms -o "$file" \
		--stats "$tmp/files/$1.json" $(options_of "$1") 2>"$tmp/recorder.err" &
	pid=$!
	if [ $(($1 % 3)) -eq 0 ]; then
		sleep 0.3
		pkill -STOP -P $pid || return 1
		sleep 0.$((1 + $1 % 4))
		pkill -CONT -P $pid || return 1
	fi
	wait $pid || { cat "$tmp/recorder.err"; return 1; }
}

# The numbers that the recorder counted equal those in the trace.
losses_match() # FIRST LAST
{
	local i counted told lossy=0

	for ((i = $1; i <= $2; i++)); do
		counted=$(stat_of lost "$tmp/files/$i.json")
		told=$(build/gotrace stat --json "$tmp/files/$i.trace" |
			jq '[.private.losses[] | select(.kind != "unknown").count] | add // 0')
		[ -n "$counted" ] && [ "$counted" = "$told" ] ||
			{ echo "recording $i: $counted counted, $told told"; return 1; }
		[ "$counted" -eq 0 ] || lossy=$((lossy + 1))
	done
	echo "$lossy lost something"
	[ $((lossy * 10)) -ge $((($2 - $1 + 1) * 9)) ]
}

record_all() # FIRST LAST
{
	local i

	for ((i = $1; i <= $2; i++)); do
		one_recording "$i" || return 1
	done
}

recordings() # FIRST LAST
{
	mkdir -p "$tmp/files"
	try "recordings $1 to $2" record_all "$1" "$2" || return 1
	try "recordings $1 to $2: the losses in the trace match" losses_match "$1" "$2"
	note "$(cat "$tmp"/files/*.json | jq -s -c '{recordings: length, with_losses: map(select(.lost > 0)) | length,
		lost: map(.lost) | add, resnapshots: map(.resnapshots) | add, repairs: map(.repairs) | add}')"
	all_accept "recordings $1 to $2" "$tmp/files" $(($2 - $1 + 1))
	rm -rf "$tmp/files"
}

ktap_start
if try "everything builds" build; then
	for ((first = 0; first < replayed; first += step)); do
		count=$((replayed - first < step ? replayed - first : step))
		lossy_variants "variants from $first on" "$count" "$first" -losses -raw
	done
	start_target many "$ORACLE_GO" -duration 3600s -goroutines 1000
	tell_target start
	for ((first = 0; first < recorded; first += 100)); do
		recordings "$first" $((first + 100 < recorded ? first + 99 : recorded - 1))
	done
	try "the target is still running" kill -0 "$TARGET_PID"
fi
ktap_end
