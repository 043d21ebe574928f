# Provokes conditions of `gotrace-bpf flight --trigger` with the target conditions, and compares the snapshots with
# what it has done. Read after lib.sh, record.lib.sh and files.lib.sh.

# NAME "KIND [ARGUMENT...]" [OPTION...]: runs the target, with a flight recorder into $tmp/NAME, to its end
watched()
{
	local name=$1 target=$2
	shift 2
	DIR=$tmp/$name
	start_target conditions "$ORACLE_GO" -kind $target || return 1
	start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" "$@"
	recorder_is_live && tell_target start && expect_target done 1000 || return 1
	target_result >"$tmp/$name.done"
}

# The recorder ends with its target, and writes a last snapshot.
flown_to_the_end() # pauses, so that the end is not within the last tail
{
	pause 1000
	stop_target
	landed
}

# Lines "FILE FROM TO CAUSE_TIME CAUSE"
causes()
{
	local name bytes events from to

	while IFS=$'\t' read -r name bytes events _ from to; do
		echo "$DIR/$name $from $to $(build/gotrace stat --json "$DIR/$name" | jq -r '"\(.. | .cause_time? // empty) \(.. | .cause? // empty)"' | head -n 1)"
	done < <(index)
}

# KIND N: N snapshots and the last one; each of the N is valid, has the text of the kind, and its cause lies in its
# window and in the condition that the target has provoked.
each_has_its_cause()
{
	local kind=$1 n=$2 i=0 file from to time text

	snapshots_are $((n + 1)) || { note "snapshots: $(index | wc -l), not $((n + 1))"; return 1; }
	each_is_valid || return 1
	while read -r file from to time text; do
		[ $i -lt "$n" ] || break
		echo "$file: $from to $to, cause $time: $text"
		[ "$time" -ge "$from" ] && [ "$time" -le "$to" ] && [[ $text == "$kind"* && $file == *Z-${kind%%:*}.trace ]] &&
			jq -e --argjson t "$time" --argjson i $i --argjson slack "${slack-1000000}" \
				'.provoked[$i] | .[0] <= $t and $t <= .[1] + $slack' "$tmp/${DIR##*/}.done" || return 1
		i=$((i + 1))
	done < <(causes)
}

# LIMIT FILTER COMMAND...: for each snapshot but the last one, the filter is true of what the command prints of it,
# where $at is the time that precedes the cause by the limit.
is_so_before()
{
	local limit=$1 filter=$2 file from to time text i=0 n
	shift 2

	n=$(($(index | wc -l) - 1))
	while read -r file from to time text; do
		[ $i -lt $n ] || break
		"$@" "$file" | jq -n -e --argjson at $((time - limit)) "$filter" || return 1
		i=$((i + 1))
	done < <(causes)
	[ $i -gt 0 ]
}

# EVENT LIMIT FILTER: in each snapshot but the last one an event for which the filter is true precedes the cause by
# the limit exactly.
has_event()
{
	is_so_before "$2" "any(inputs; .event == \"$1\" and .time == \$at and ($3))" build/gotrace events --json
}
