#!/bin/bash
# The black box without a kernel module: what is refused, and why; and how true it is what is recovered: the
# records of a real program are put into rings that go round (selftests/blackbox/pack.c), and the events of
# the window must be those of the whole recording. With the module: selftests/vm/guest/50-recover.sh.
# beside others
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# shellcheck disable=SC2086 # it is words
box="$GOTRACE record --blackbox box"

cannot_be_had_together()
{
	refused 2 'records a process that runs' $box -- true && refused 2 'no process or command given' $box &&
		refused 2 '^gotrace-bpf: record: --blackbox and --follow' $box -p 1 --follow &&
		refused 2 'samples' $box -p 1 --cpu-profile 100 && refused 2 'samples' $box -p 1 --events sched,cpu &&
		refused 2 'so -o is not for it: gotrace-bpf recover box' $box -p 1 -o x &&
		refused 2 'so --raw' $box -p 1 --raw x && refused 2 'so --stats' $box -p 1 --stats x &&
		refused 2 "a trace's format" $box -p 1 --tick 64ns && refused 2 'at least 64K' $box -p 1 --ring-size 16K &&
		refused 2 'time-out' $box -p 1 --timeout 31days && refused 2 'named "a/b"' $box -p 1 --blackbox a/b &&
		refused 2 'daemonize is for --blackbox' $GOTRACE record -p 1 --daemonize &&
		refused 2 'timeout is for --blackbox' $GOTRACE record -p 1 --timeout 1h
}

recover_what()
{
	refused 2 'no black box given' $GOTRACE recover && refused 2 'no -o FILE given' $GOTRACE recover box &&
		refused 2 'not "other"' $GOTRACE recover box other -o x && refused 2 'either' $GOTRACE recover box -o x --discard &&
		refused 2 'does nothing else' $GOTRACE recover box --list && refused 2 'json is for' $GOTRACE recover box --json &&
		refused 2 'same file' $GOTRACE recover box -o x --raw x
}

no_module() # each says what to do; a daemon's starter does, too
{
	local why='the kernel module is not loaded: modprobe gotrace'

	refused 1 "$why" $box -p "$TARGET_PID" && refused 1 "$why" $box -p "$TARGET_PID" --daemonize &&
		refused 1 "$why" $GOTRACE recover box -o x && refused 1 "$why" $GOTRACE recover box --discard &&
		refused 1 "$why" $GOTRACE recover --list
}

recorded()
{
	start_target selftrace "$JUDGE_GO" -duration 3s && tell_target start &&
		timeout 60 $GOTRACE record -p "$TARGET_PID" -d 2s -o "$tmp/all.trace" --raw "$tmp/all.raw" \
			--stats "$tmp/all.json" && [ "$(stat_of lost "$tmp/all.json")" = 0 ] &&
		build/gotrace events --canonical "$tmp/all.trace" >"$tmp/all"
}

# SUBBUF SUBBUFS: sets window; the trace is $tmp/part.trace
packed()
{
	read -ra window < <(build/selftests/blackbox "$tmp/all.raw" "$1" "$2" 524288 "$tmp/part.raw") &&
		$GOTRACE sequence "$tmp/part.raw" -o "$tmp/part.trace" && check_trace "$tmp/part.trace"
}

nothing_overwritten()
{
	packed 1048576 64 && cmp "$tmp/part.trace" "$tmp/all.trace"
}

# <EVENTS: of the window, without what its begin has to say first, or cannot know: how things were named before,
# which P was not there, that GOMAXPROCS did not change, that a stop of the world or a task had begun.
certain()
{
	awk -F '\t' -v from="$((window[0] + 1000000))" -v to="${window[1]}" \
		'$1 >= from && $1 < to && $2 != "Sync" && $2 != "RangeActive"' |
		grep -v -e 'name="stop-the-world' -e 'Undetermined->' -e 'name="/sched/gomaxprocs' |
		sed -E 's/(\tproc=[0-9]+ )[A-Za-z]*->/\1->/; s/(\tTaskEnd\t.*)\tid=([0-9]+) .*\t/\1\tid=\2\t/
			s/ (type|category)="[^"]*"//; s/(goroutine=[0-9]+ NotExist.*)\t.*/\1/'
}

# SUBBUF SUBBUFS AT_LEAST PERCENT: so many events, and of them so many in a hundred are the same. The checkpoint is
# that of the recording's begin, older than any that a black box has: who came after it is known from when its
# number is first told.
overwritten()
{
	packed "$1" "$2" && [ "${window[0]}" -gt "$(head -n 1 "$tmp/all" | cut -f 1)" ] &&
		certain <"$tmp/all" >"$tmp/want" || return 1
	build/gotrace events --canonical "$tmp/part.trace" | certain >"$tmp/have"
	diff "$tmp/want" "$tmp/have" | grep '^[<>]' >"$tmp/differences"
	head -n 20 "$tmp/differences" | cut -c 1-200
	echo "$(wc -l <"$tmp/want") events, $(wc -l <"$tmp/differences") differences"
	[ "$(wc -l <"$tmp/want")" -gt "$3" ] &&
		[ "$(wc -l <"$tmp/differences")" -le "$(($(wc -l <"$tmp/want") * (100 - $4) / 100))" ]
}

ktap_start
try "what cannot be had together" cannot_be_had_together
try "recover: what it needs to be told" recover_what
try "a real program is recorded" recorded || { ktap_end; exit 1; }
[ -e /dev/gotrace ] || try "without the module each says what to do" no_module
try "recovered: nothing was overwritten, and the trace is the same" nothing_overwritten
try "recovered: rings that went round a few times" overwritten 65536 32 10000 90
try "recovered: rings that went round often, a valid trace" packed 16384 8
ktap_end
