# Triggers of the flight recorder; read after record.lib.sh and files.lib.sh. The target overdue provokes each kind.

# KIND: the condition, its limit as a number, and the options of the target
condition_of()
{
	case $1 in
	runnable) CONDITION=runnable:40ms LIMIT=40000000 OPTIONS='-for 60ms' ;;
	blocked) CONDITION='blocked:40ms:chan receive' LIMIT=40000000 OPTIONS='-for 60ms' ;;
	syscall) CONDITION=syscall:40ms:nanosleep LIMIT=40000000 OPTIONS='-for 60ms' ;;
	stw) CONDITION=stw:30ms LIMIT=30000000 OPTIONS='-for 60ms' ;;
	gc) CONDITION=gc:10ms LIMIT=10000000 OPTIONS='' ;;
	runqueue) CONDITION=runqueue:3ms LIMIT=3000000 OPTIONS='-for 300ms' ;;
	goroutines) CONDITION=goroutines:900 LIMIT=900 OPTIONS='' ;;
	heap) CONDITION=heap:48M LIMIT=50331648 OPTIONS='' ;;
	esac
}

# A second way to find the condition, in the events of a snapshot: a wait that began exactly the limit
# before the cause and had not ended then, or a number that reached the limit with the event of that
# time.
TRIGGER_ORACLE='
def began: # the key of the wait that begins with this event
	if $kind == "runnable" then select(.to == "Runnable" and .from != "Undetermined") | .goroutine
	elif $kind == "blocked" then select(.event == "GoBlock") | .goroutine
	elif $kind == "syscall" then select(.event == "GoSyscallBegin") | .goroutine
	elif $kind == "stw" then select(.event == "STWBegin") | 0
	else select(.event == "GCBegin") | 0 end;
def ended: # the keys of waits that end
	if $kind == "runnable" then select(.from == "Runnable") | .goroutine
	elif $kind == "blocked" then select(.from == "Waiting") | .goroutine
	elif $kind == "syscall" then select(.from == "Syscall") | .goroutine
	elif $kind == "stw" then select(.event == "STWEnd") | 0
	else select(.event == "GCEnd") | 0 end;
def waits: reduce inputs as $e ({open: {}, met: false};
		(first($e | ended | tostring) // null) as $key |
		if $key and .open[$key] then
			(if $e.time >= $cause and .open[$key] == $cause - $limit then .met = true else . end) | del(.open[$key])
		else . end |
		(first($e | began | tostring) // null) as $key |
		if $key then .open[$key] = (.open[$key] // $e.time) else . end) |
	.met or any(.open[]; . == $cause - $limit);
# A thread that is woken before it has left its CPU to sleep waits from then on. One that makes a system call
# or wakes another is on a CPU: the kernel does not report each switch.
def runs($m; $time):
	if .since[$m] == $cause - $limit and $time >= $cause then .met = true else . end |
	del(.since[$m]) | .on[$m] = true | .woken[$m] = false;
def queued: reduce (inputs | select(.kind == "Kernel")) as $e ({since: {}, on: {}, woken: {}, met: false};
		($e.m | tostring) as $m |
		if $e.event == "off_cpu" then
			.woken[$m] as $woken | runs($m; $e.time) | .on[$m] = false |
			if ($e.why | IN("preempted", "yielded")) or ($woken and ($e.why | IN("sleeping", "disk"))) then
				.since[$m] = $e.time
			else . end
		elif $e.event == "waking" then
			if $e.interrupt or $e.by.m == $e.m then . else runs($e.by.m | tostring; $e.time) end |
			if .on[$m] then .woken[$m] = (.woken[$m] or $e.by.m != $e.m) else .since[$m] = (.since[$m] // $e.time) end
		elif $e.event | IN("on_cpu", "sys_enter", "sys_exit") then runs($m; $e.time)
		else . end) |
	.met or any(.since[]; . == $cause - $limit);
def live: reduce inputs as $e ({set: {}, met: false};
		if $e.goroutine == null or $e.to == null then .
		elif $e.to == "NotExist" then del(.set[$e.goroutine | tostring])
		elif $e.from == "NotExist" then
			(.set | length) as $before | .set[$e.goroutine | tostring] = 1 |
			if $e.time == $cause and $before < $limit and $before + 1 >= $limit then .met = true else . end
		else .set[$e.goroutine | tostring] = 1 end) | .met;
def bytes: reduce (inputs | select(.event == "HeapAlloc")) as $e ({last: 0, met: false};
		if $e.time == $cause and .last < $limit and $e.value >= $limit then .met = true else . end |
		.last = $e.value) | .met;
if $kind == "goroutines" then live elif $kind == "runqueue" then queued elif $kind == "heap" then bytes else waits end'

# FILE KIND: the condition is really met in it, at the time of the cause
really_met()
{
	build/gotrace events --kernel --json "$1" |
		jq -ne --arg kind "$2" --argjson limit "$LIMIT" --argjson cause "$(cause_time_of "$1")" "$TRIGGER_ORACLE"
}

# KIND COUNT: provokes it COUNT times, each time once the previous snapshot is on the disk, in $tmp/KIND
provoke()
{
	local i n=0

	condition_of "$1"
	DIR=$tmp/$1
	GODEBUG=asyncpreemptoff=1 start_target overdue "$ORACLE_GO" -case "$1" $OPTIONS || return 1
	start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" --trigger "$CONDITION" --tail 50ms --window 1s \
		--trigger-interval 10ms
	recorder_is_live && tell_target start && expect_target begun || return 1
	for ((i = 0; i < $2; i++)); do
		tell_target next
		wait_until 20 listed $((n + 1)) || break
		n=$(index | wc -l)
	done
	[ $i -eq "$2" ] && tell_target done && expect_target done && target_result >"$tmp/$1.done" && stop_recorder && stop_target
}

snapshots_of_kind() { index | sort -n -k 5; } # by the begin of their window

# KIND: each snapshot is a valid trace with its cause inside, and the condition in it.
causes_are_true()
{
	local name bytes events wall from to cause n=0

	while IFS=$'\t' read -r name bytes events wall from to; do
		n=$((n + 1))
		cause=$(cause_time_of "$DIR/$name")
		if ! build/gotrace check "$DIR/$name" || ! build/reference/validate -strict "$DIR/$name" >/dev/null ||
			[[ $name != *Z-$1.trace ]] || [[ $(cause_of "$DIR/$name") != "$CONDITION: "* ]] ||
			[ "$cause" -lt "$from" ] || [ "$cause" -ge "$to" ] || ! really_met "$DIR/$name" "$1" >/dev/null; then
			echo "$name: window $from to $to, cause $cause: $(cause_of "$DIR/$name")"
			return 1
		fi
		echo "$cause" >>"$tmp/$1.causes"
	done < <(snapshots_of_kind)
	[ $n -gt 0 ]
}

# KIND: by the target's own clock, a snapshot was written for each wait that it has provoked. Threads wait
# for a CPU at other times, too; while the snapshot of such a wait is written, others are ignored. So there
# are only as many.
each_has_a_snapshot()
{
	if [ "$1" = runqueue ]; then
		[ "$(wc -l <"$tmp/$1.causes")" -ge "$(jq '.waits | length' "$tmp/$1.done")" ]
		return
	fi
	jq -e --slurpfile causes "$tmp/$1.causes" \
		'[.waits[] | . as $w | select(any($causes[]; . >= $w.from and . <= $w.to) | not)] as $without |
		($without | length) == 0 or ("without a snapshot:", $without, "causes:", $causes | debug | false)' "$tmp/$1.done" >/dev/null
}
