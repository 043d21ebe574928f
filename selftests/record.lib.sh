# Recording of real programs; read after lib.sh.

# Options of reference/compare. On a busy machine a thread may lose its CPU between the probe and
# the runtime's timestamp: events as close to an end of the window as the times of this run differ,
# up to this limit, are not compared.
tolerance() { echo "-edge-max $(stretched 60ms)"; }

# For comparisons: without --events sizes of the heap may be sampled.
EVERY_EVENT=--events=sched,syscall,gc,heap,user,kernel

# NAME GO "RECORD OPTIONS" [ARGUMENT...]: starts a target, records it from before its "start" until
# after its "done", and lets it exit. The trace is $tmp/NAME.trace, its statistics $tmp/NAME.json. A
# command in $when_live runs before "start". False, with the reason in a comment, when any step
# fails, or when `gotrace check` rejects the trace.
record_target()
{
	local name=$1 go=$2 options=$3 status
	shift 3

	RECORDED=$tmp/$name.trace
	rm -f "$RECORDED" "$tmp/$name.json"
	start_target "$name" "$go" "$@" || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$RECORDED" --stats "$tmp/$name.json" $options
	recorder_is_live && ${when_live-} || return 1
	tell_target start
	expect_target done 120 || return 1
	stop_recorder || return 1
	target_result >"$tmp/$name.done"
	stop_target
	status=$?
	[ $status -eq 0 ] || note "the target exited with $status: $(tail -n 3 "$tmp/target.err")"
	build/gotrace check "$RECORDED" >/dev/null || return 1
	return $status
}

# GO OPTIONS: the program spawn, whose counts must be exact. If a child that runs in its memory is
# delayed for 10 ms in a system call, the runtime takes the P away, and the child, which is not
# recorded, takes another one for its parent: then the trace is repaired, and the run is repeated.
record_spawn()
{
	local try

	for try in 1 2 3 4; do
		record_target spawn "$1" "$2" || return 1
		build/reference/truth "$RECORDED" "$tmp/spawn.done" && return
		[ "$(stat_of repairs "$tmp/spawn.json")" -gt 0 ] || return 1
		echo "run $try had repairs"
	done
	return 1
}

# DURATIONS COMMAND...: runs it with the first DURATION; with a longer one if reference/compare says that the program's
# own trace has too few events of a kind, as on a busy machine.
long_enough()
{
	local status
	for DURATION in $1; do
		"${@:2}"
		status=$?
		[ $status -eq 3 ] || return $status
		echo "too few events in $DURATION"
	done
	return 1
}

# Waits until the recorder has printed that its probes are attached.
recorder_is_live()
{
	wait_until 20 recorder_started && kill -0 "$BACKGROUND_PID" 2>/dev/null && return
	note "the recorder did not start: $(tail -n 3 "$tmp/background.out")"
	return 1
}

recorder_started() # or has exited; its line "recording process" means that the probes are attached
{
	! kill -0 "$BACKGROUND_PID" 2>/dev/null || grep -q '^gotrace-bpf: recording' "$tmp/background.out"
}

stop_recorder() # with SIGINT, which a shell's background job inherits as ignored
{
	local status

	kill -INT "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	[ $status -eq 0 ] || note "the recorder exited with $status: $(tail -n 3 "$tmp/background.out")"
	return $status
}

# PID [LIBRARY]: the text of the program (or its library) in memory equals that of its file: it
# contains no breakpoint. False when there is no text to compare.
text_is_clean()
{
	local file=${2-/proc/$1/exe} range offset start end

	read -r range _ offset _ < <(awk -v exe="${2-$(readlink "/proc/$1/exe" | sed 's/ (deleted)$//')}" \
		'$2 == "r-xp" && $6 == exe' "/proc/$1/maps")
	[ -n "$range" ] || return 1
	start=$((16#${range%-*})) end=$((16#${range#*-}))
	cmp -s <(dd if="/proc/$1/mem" bs=65536 iflag=skip_bytes,count_bytes \
			skip="$start" count=$((end - start)) status=none) \
		<(dd if="$file" bs=65536 iflag=skip_bytes,count_bytes \
			skip=$((16#$offset)) count=$((end - start)) status=none)
}

# STATUS PATTERN COMMAND...: one line on stderr matches PATTERN (extended regexp)
refused()
{
	local want=$1 pattern=$2 status
	shift 2

	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qE "$pattern" "$tmp/err"
}
