#!/bin/bash
# Half an hour of 100,000 events per second, first with record --rotate, then in the flight recorder: the
# resident memory stays within 5 %, nothing is lost, each file is valid alone, and the files of --rotate
# follow each other without a gap and add up to what the program did. `FLIGHT_SECONDS=120` shortens both runs.
# tier: long
# timeout: 7200
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

seconds=${FLIGHT_SECONDS:-1800}
RATE=16700         # round trips per second, of six events each

# COMMAND...: records pingpong into $DIR; $each runs each minute, and memory is sampled every 5 s
long_run()
{
	local i=0
	: >"$tmp/memory"
	start_target pingpong "$ORACLE_GO" -duration "${seconds}s" -rate $RATE && start_background "$@" -p "$TARGET_PID" -o "$DIR" &&
		recorder_is_live && tell_target start || return 1
	until grep -q '^done' "$TARGET_OUT"; do
		sleep 5
		resident >>"$tmp/memory" || return 1
		i=$((i + 1))
		[ $((i % 12)) -ne 0 ] || ${each-true}
	done
	target_result >"$tmp/done"
}

# Tables, rings and the window fill in the first minute.
memory_is_flat()
{
	tail -n +13 "$tmp/memory" | sort -n | sed -n '1p;$p' | tr '\n' ' ' >"$tmp/extremes"
	read -r least most <"$tmp/extremes"
	echo "resident: $least to $most KiB; load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
	[ "$most" -le $((least + least / 20)) ]
}

rotated()
{
	DIR=$tmp/rotate
	long_run $GOTRACE record --rotate 10s --stats "$tmp/rotate.json" && stop_recorder && stop_target
}

nothing_lost() { jq -c '{ events, lost }' "$tmp/rotate.json" && [ "$(stat_of lost "$tmp/rotate.json")" = 0 ]; }

# Each window begins where the previous one ended, and the file itself begins there, too.
without_gaps()
{
	local name from to before=''
	while IFS=$'\t' read -r name _ _ _ from to; do
		build/gotrace stat --json "$DIR/$name" >"$tmp/stat.json"
		[ "${before:-$from}" = "$from" ] && jq -e --argjson from "$from" --argjson to "$to" '.start == $from and .end <= $to' "$tmp/stat.json" ||
			{ echo "$name: $from to $to, after $before"; return 1; }
		before=$to
	done < <(index) && [ -n "$before" ]
}

adds_up()
{
	local blocks
	blocks=$(blocks_in $(traces)) &&
		echo "$blocks blocks, $(jq -c '{ round_trips, seconds }' "$tmp/done")" &&
		are_all_blocks "$blocks" "$tmp/done"
}

snapshot() { $GOTRACE snapshot -p "$TARGET_PID"; }

flown()
{
	DIR=$tmp/flight
	each=snapshot long_run $GOTRACE flight && stop_target && landed && grep recorded "$tmp/background.out" &&
		grep -q ' 0 lost$' "$tmp/background.out"
}

one_each_minute() { snapshots_are $(($(wc -l <"$tmp/memory") / 12 + 1)); }

ktap_start
try "record --rotate" rotated
try "nothing was lost" nothing_lost && note "$(grep lost "$tmp/try.out")"
try "memory is flat" memory_is_flat && note "$(grep resident "$tmp/try.out")"
try "each file is valid" each_is_valid
try "no gap between the windows" without_gaps
try "the files add up to what the program did" adds_up && note "$(grep blocks "$tmp/try.out")"
try "the flight recorder" flown && note "$(grep recorded "$tmp/try.out")"
try "memory is flat" memory_is_flat && note "$(grep resident "$tmp/try.out")"
try "a snapshot each minute" one_each_minute
try "each snapshot is valid" each_is_valid
ktap_end
