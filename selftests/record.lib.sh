# What the scripts that record real programs share; read after lib.sh.

# Options of reference/compare, for runs of seconds. A program's threads end their own tracing one after the other, and an event
# may have its time long before it is written: the longer, the slower the machine.
tolerance() { echo "-edge $(stretched 60ms) -blur $(stretched 5ms)"; }

# NAME GO "RECORD OPTIONS" [ARGUMENT...]: starts a target, records it from before its "start" until
# after its "done", and lets it exit. The trace is $tmp/NAME.trace, its statistics $tmp/NAME.json. A command
# in $when_live runs before "start".
# False, with the reason in a comment, when any step fails, or when `gotrace check` refuses the trace.
record_target()
{
	local name=$1 go=$2 options=$3 status
	shift 3

	RECORDED=$tmp/$name.trace
	rm -f "$RECORDED" "$tmp/$name.json"
	start_target "$name" "$go" "$@" || return 1
	# shellcheck disable=SC2086 # options are words
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

# The recorder has said that its probes are live.
recorder_is_live()
{
	wait_until 20 recorder_started && kill -0 "$BACKGROUND_PID" 2>/dev/null && return
	note "the recorder did not start: $(tail -n 3 "$tmp/background.out")"
	return 1
}

recorder_started() # or is gone; its line "recording process" says that the probes are live
{
	! kill -0 "$BACKGROUND_PID" 2>/dev/null || grep -q '^gotrace-bpf: recording' "$tmp/background.out"
}

stop_recorder() # by SIGINT, which a shell's background job inherits as ignored
{
	local status

	kill -INT "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	[ $status -eq 0 ] || note "the recorder exited with $status: $(tail -n 3 "$tmp/background.out")"
	return $status
}

# PID [LIBRARY]: the program's text in memory (or its library's) is that of its file: no breakpoint
# stands in it. False when it has no text to compare.
text_is_clean()
{
	local file=${2-/proc/$1/exe} range offset start end

	read -r range _ offset _ < <(awk -v exe="${2-$(readlink "/proc/$1/exe")}" \
		'$2 == "r-xp" && $6 == exe' "/proc/$1/maps")
	[ -n "$range" ] || return 1
	start=$((16#${range%-*})) end=$((16#${range#*-}))
	cmp -s <(dd if="/proc/$1/mem" bs=65536 iflag=skip_bytes,count_bytes \
			skip="$start" count=$((end - start)) status=none) \
		<(dd if="$file" bs=65536 iflag=skip_bytes,count_bytes \
			skip=$((16#$offset)) count=$((end - start)) status=none)
}

# STATUS PATTERN COMMAND...: one line on stderr that has PATTERN (extended regexp)
refused()
{
	local want=$1 pattern=$2 status
	shift 2

	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qE "$pattern" "$tmp/err"
}
