#!/bin/bash
# kernels: 6.12 6.1
# timeout: 300
# The recorder without the module, on both kernels: doctor reports what is available, a known-count
# target is recorded completely, one with annotations too, and a server. 6.1 has no uprobe_multi, so
# each probe is a perf event there. The server is recorded on 6.12 only, and annotations, which
# 45-session.sh records there, on 6.1 only; in check-long both are recorded on both.
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

# NAME [ARGUMENT...]: nothing is lost; the counts are compared with the target's on the host
counted()
{
	record_target "$1" "$ORACLE_GO" "" "${@:2}" && cp "$RECORDED" "$tmp/$1.done" "$tmp/$1.json" "$VM_SHARE/" || return 1
	cat "$tmp/$1.json" "$tmp/background.out"
	[ "$(stat_of lost "$tmp/$1.json")" = 0 ]
}

has_kernel_events() # of the last recording
{
	cat "$tmp/truth.json"
	jq -e '.records_by_kind | .cpu_on > 0 and .cpu_off > 0 and .waking > 0 and .thread > 0' "$tmp/truth.json"
}

# The verifier of this kernel accepts what the programs do outside of the initial PID namespace.
in_a_pid_namespace()
{
	unshare --pid --fork --kill-child --mount-proc $GOTRACE record --cpu-profile -o "$VM_SHARE/namespace.trace" \
		--stats "$tmp/namespace.json" -- "build/targets/$ORACLE_GO/tiny" -duration 1s && cat "$tmp/namespace.json" &&
		jq -e '.records_by_kind | .execute > 0 and .cpu_on > 0 and .sys_enter > 0 and .sample > 0' "$tmp/namespace.json"
}

served()
{
	start_background "build/targets/$ORACLE_GO/server" -duration 100s
	TARGET_PID=$BACKGROUND_PID
	wait_until 30 grep -q ready "$tmp/background.out" && RECORDED=$tmp/server.trace &&
		$GOTRACE record -p "$TARGET_PID" -d 2s -o "$RECORDED" --stats "$tmp/server.json" && cp "$RECORDED" "$VM_SHARE/" &&
		cat "$tmp/server.json" && [ "$(stat_of 'events > 1000' "$tmp/server.json")" = true ] &&
		kill -0 "$TARGET_PID" && kill -TERM "$TARGET_PID" && wait "$TARGET_PID"
}

# Linux 6.1 lacks the tracepoints by which the kernel reports when a request arrived: there each begins when its
# goroutine is made runnable, or later.
requests_begin()
{
	record_target web "$ORACLE_GO" "--requests http" -n 40 && build/gotrace requests --json "$RECORDED" |
		jq -c '[.requests[].begin_at] | { arrival: map(.arrival) | add, later: map(.runnable + .read) | add }' >"$tmp/begins" || return 1
	cat "$tmp/begins"
	if [[ $release == 6.1.* ]]; then
		jq -e '.arrival == 0 and .later > 0' "$tmp/begins"
	else
		jq -e '.arrival > .later' "$tmp/begins"
	fi
}

ktap_start
if [[ $release == 6.1.* ]]; then
	try "doctor: recordable, with perf uprobes" doctor_says '^note *uprobes .*a perf event of its own'
else
	try "doctor: recordable, with uprobe_multi" doctor_says '^ok *uprobes .*uprobe_multi'
fi
try "a known-count target" counted truth
try "it has threads, CPUs and wake-ups" has_kernel_events
try "in a PID namespace" in_a_pid_namespace
try "when requests begin" requests_begin
if [[ $release == 6.1.* || -n ${LONG-} ]]; then
	try "a target with annotations" counted annotate
fi
if [[ $release != 6.1.* || -n ${LONG-} ]]; then
	try "a server" served
fi
ktap_end
