#!/bin/bash
# CPU samples that the kernel throttles are counted: with kernel.perf_event_max_sample_rate at half of the rate, the trace
# says for how long there were none, and the CPU time of the samples is that of the program's clock without this part.
# It runs alone, because the limit applies to all recordings of the machine.
# timeout: 120
# depends on: Makefile bpf include userspace selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

LIMIT=/proc/sys/kernel/perf_event_max_sample_rate

before=$(cat $LIMIT)

restore()
{
	echo "$before" >$LIMIT
}

throttled()
{
	echo 2000 >$LIMIT
	record_target spin "$ORACLE_GO" --cpu-profile=4000 -duration 800ms
	local status=$?
	restore
	cat "$tmp/background.out"
	[ $status -eq 0 ] && build/gotrace stat --json "$RECORDED" >"$tmp/stat" && jq -c '.samples, .private.cpu_samples' "$tmp/stat" &&
		build/gotrace stat "$RECORDED" | grep -q '^ *throttled by the kernel [0-9]* times, for .*: at most [0-9]* samples are missing$' &&
		grep -q 'the kernel throttled the CPU samples for .* ms, so that up to [0-9]* are missing' "$tmp/background.out" &&
		jq -n -e --slurpfile trace "$tmp/stat" --slurpfile stats "$tmp/spin.json" --slurpfile done "$tmp/spin.done" --argjson cpus "$(nproc)" '
			$trace[0].private.cpu_samples as $s | $stats[0] as $r | (1 - $s.throttled_ns / ($trace[0].duration * $cpus)) as $rest |
			($trace[0].samples * $s.period_ns / $done[0].cpu_ns) as $part | ([$rest, $part] | debug) |
			$s.throttles > 50 and $r.sample_throttles == $s.throttles and $r.sample_throttled_ns == $s.throttled_ns and
			$rest > 0.3 and $rest < 0.8 and $part > $rest - 0.15 and $part < $rest + 0.15'
}

not_throttled()
{
	record_target spin "$ORACLE_GO" --cpu-profile=997 -duration 300ms && build/gotrace stat --json "$RECORDED" | jq -e '.private.cpu_samples | .throttles == 0 and .throttled_ns == 0' &&
		! grep throttled "$tmp/background.out"
}

ktap_start
trap 'restore; ktap_cleanup' EXIT
try "throttled samples are counted" throttled
try "otherwise there are none" not_throttled
ktap_end
