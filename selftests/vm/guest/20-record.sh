#!/bin/bash
# kernels: 6.12 6.1
# timeout: 240
# The recorder without the module, on both kernels: doctor says what can be had, a program that counts what it
# does is recorded to the last event, one with annotations too, and a server. 6.1 has no uprobe_multi, so each
# probe is a perf event there.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
release=$(uname -r)

doctor_says() # TEXT
{
	$GOTRACE doctor -v >"$tmp/doctor" 2>&1
	status=$?
	cat "$tmp/doctor"
	[ $status -eq 0 ] && ! grep -q '^MISSING' "$tmp/doctor" && grep -q "$1" "$tmp/doctor" &&
		grep -q '^ok *probes' "$tmp/doctor" && grep -q '^ok *kernel .*recorded$' "$tmp/doctor"
}

kept() # NAME: the trace is judged outside as well
{
	cp "$RECORDED" "$VM_SHARE/$1.trace"
}

counted() # NAME [ARGUMENT...]: all that the target says it did is there
{
	record_target "$1" "$JUDGE_GO" "" "${@:2}" && kept "$1" && cat "$tmp/$1.json" "$tmp/background.out" &&
		[ "$(stat_of lost "$tmp/$1.json")" = 0 ] && build/reference/truth "$RECORDED" "$tmp/$1.done"
}

kernels_side() # of the recording just made
{
	cat "$tmp/truth.json"
	jq -e '.records_by_kind | .cpu_on > 0 and .cpu_off > 0 and .waking > 0 and .thread > 0' "$tmp/truth.json"
}

served()
{
	start_background "build/targets/$JUDGE_GO/server" -duration 100s
	TARGET_PID=$BACKGROUND_PID
	wait_until 30 grep -q ready "$tmp/background.out" && RECORDED=$tmp/server.trace &&
		$GOTRACE record -p "$TARGET_PID" -d 2s -o "$RECORDED" --stats "$tmp/server.json" && kept server &&
		cat "$tmp/server.json" && [ "$(stat_of 'events > 1000' "$tmp/server.json")" = true ] &&
		kill -0 "$TARGET_PID" && kill -TERM "$TARGET_PID" && wait "$TARGET_PID"
}

ktap_start
if [[ $release == 6.1.* ]]; then
	try "doctor: recordable, by perf uprobes" doctor_says '^note *uprobes .*one perf event each'
else
	try "doctor: recordable, by uprobe_multi" doctor_says '^ok *uprobes .*uprobe_multi'
fi
try "every count of a program is exact" counted truth
try "threads, cores and wake-ups are in it" kernels_side
try "annotations are" counted annotate
try "a server" served
ktap_end
