#!/bin/bash
# Many attachments of inline probes to programs that race with them: their threads start children,
# execute the same program again, change their IDs, or overwrite all that a recorder has mapped into
# them. Each recording ends in time, with a valid trace or one line that says why not; no process of
# ours crashes; the program lives, and its code is restored.
#
#     RECORDER=build/san/gotrace-bpf ATTACH="0 0 0 1000 0"    attachments of each kind
#     SOAK=build/san/selftests/inline ATTACH="0 0 0 0 0 1000"    the last number: without BPF programs
#     PROGRESS=FILE    where to write the number of recordings and refusals so far, and the longest time (us)
# tier: long
# timeout: 20000
# depends on: Makefile bpf include userspace selftests/targets selftests/inline
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

soak=build/selftests/inline
hostile=${SOAK:-$soak}
recorder=${RECORDER:-$GOTRACE}
read -r spawns execs ids scribbles areas alone <<<"${ATTACH:-$(by_tier "5 5 5 5 5 50" "30 30 30 30 30 300" \
	"1000 1000 1000 1000 1000 10000")}"
export ASAN_OPTIONS=exitcode=99:detect_leaks=0 UBSAN_OPTIONS=exitcode=99
ms=20 # of a recording
DEATHS='comm="gotrace-[a-z]*".* sig=|gotrace-[a-z]*\[[0-9]*\](:|.*) (segfault|trap|general protection)'

is_clean() { $soak "$TARGET_PID" 0; }

deaths() { dmesg | grep -cE "$DEATHS"; } # of our processes, by a fault or by their filter

# The process has no guardian any more, which would hold a pidfd of it.
no_guardian()
{
	local pid

	for pid in $(pgrep 'gotrace-(guard|tracer)'); do
		! grep -qsx "Pid:[[:space:]]*$TARGET_PID" "/proc/$pid/fdinfo/"* || return 1
	done
}

# One recording. Sets STATUS; AFTER_US: the time from its attachment, or from its start if it was refused,
# to its end. Its messages are in $tmp/messages.
attach()
{
	local line attached=${EPOCHREALTIME/./}

	: >"$tmp/messages"
	while IFS= read -r line; do
		case $line in
		*': recording process '*) attached=${EPOCHREALTIME/./} ;;
		'status '*) STATUS=${line#status } && break ;;
		*) printf '%s\n' "$line" >>"$tmp/messages" ;;
		esac
	done < <(
		timeout -k 5 60 "$recorder" record -p "$TARGET_PID" -o "$tmp/race.trace" -d ${ms}ms --probes=inline \
			--force 2>&1 </dev/null
		echo "status $?"
	)
	AFTER_US=$((${EPOCHREALTIME/./} - attached))
}

# The recording succeeded, or was refused with one line. Counts it.
is_good()
{
	case $STATUS in
	0)
		recorded=$((recorded + 1))
		build/gotrace check "$tmp/race.trace" >"$tmp/checked" 2>&1
		;;
	1)
		refused=$((refused + 1))
		sed -E 's/^gotrace-bpf: //; s/[0-9]+/N/g' "$tmp/messages" >>"$tmp/reasons"
		[ "$(wc -l <"$tmp/messages")" -eq 1 ] && grep -qE '(process|/proc/)' "$tmp/messages"
		;;
	*) false ;;
	esac
}

# While another thread executes a program, the process looks like one that has ended.
lives() { ! target_is_gone; }

end_target()
{
	kill -KILL "$TARGET_PID"
	wait "$TARGET_PID" 2>/dev/null
	[ $? -eq 137 ] # by that signal
}

# A program that has overwritten what shows where its code is changed keeps the changes.
start_again() # KIND
{
	grep -q ' differs from its file' "$tmp/messages" || return 0
	end_target
	start_target hostile "$ORACLE_GO" "$1"
}

attach_each() # KIND N: counts in $recorded and $refused, the longest time in $longest
{
	local i

	for ((i = 0; i < $2; i++)); do
		attach
		if ! is_good || ! wait_until 10 lives; then
			echo "attachment $i: status $STATUS"
			head -n 12 "$tmp/target.err"
			cat "$tmp/messages" "$tmp/checked"
			return 1
		fi
		[ $AFTER_US -le $longest ] || longest=$AFTER_US
		[ "$1" != areas ] || start_again "$1" || return 1
		echo "$1 $recorded $refused $longest" >"${PROGRESS:-$tmp/progress}" # for who does not wait for the end
	done
}

# KIND N: a recording of D ends D + max(2 s, D/2) after it has attached.
attached()
{
	local before recorded=0 refused=0 longest=0 limit=$(((ms + 2000) * 1000 * stretch))

	before=$(deaths)
	: >"$tmp/reasons"
	start_target hostile "$ORACLE_GO" "$1" && attach_each "$@" && wait_until 60 no_guardian || return 1
	[ "$1" = areas ] || wait_until 20 is_clean || return 1
	end_target
	[ "$(deaths)" -eq "$before" ] || { dmesg | grep -E "$DEATHS" | tail; return 1; }
	sort "$tmp/reasons" | uniq -c | sort -rn
	echo "$recorded recordings, $refused refused, the longest ended $((longest / 1000)) ms after it had attached"
	{ [ $recorded -gt 0 ] || [ "$2" -lt 30 ]; } && [ $longest -le $limit ]
}

# The same without BPF programs, which takes a tenth of the time.
attached_alone() # KIND N
{
	local before longest

	before=$(deaths)
	start_target hostile "$ORACLE_GO" "$1" || return 1
	$hostile "$TARGET_PID" hostile "$2" >"$tmp/alone" 2>"$tmp/messages" && lives && wait_until 60 no_guardian && wait_until 20 is_clean && end_target || {
		cat "$tmp/alone" "$tmp/messages" "$tmp/target.err"
		return 1
	}
	[ "$(deaths)" -eq "$before" ] || return 1
	sed -n 's/[0-9][0-9]*/N/g; s/^refused: //p' "$tmp/messages" | sort | uniq -c | sort -rn
	cat "$tmp/alone"
	longest=$(sed -n 's/.* the longest took \([0-9]*\) ms$/\1/p' "$tmp/alone")
	[ "$longest" -le $(((2 + 2000) * stretch)) ]
}

race() # NAME KIND N
{
	[ "$3" -gt 0 ] || return
	try "$3 attachments while $1" attached "$2" "$3" && note "$(cat "$tmp/try.out")"
}

ktap_start
race "threads start children" spawn "$spawns"
race "threads execute the program again" exec "$execs"
race "threads change their IDs" ids "$ids"
race "records are overwritten" scribble "$scribbles"
race "all areas are overwritten" areas "$areas"
[ "${alone:-0}" -eq 0 ] || {
	try "$alone attachments without BPF programs while records are overwritten" attached_alone scribble "$alone" &&
		note "$(cat "$tmp/try.out")"
}
ktap_end
