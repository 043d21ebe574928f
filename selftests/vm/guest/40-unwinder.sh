#!/bin/bash
# kernels: 6.12 6.1
# timeout: 600
# Stacks walked by the module: doctor and --stats report the unwinder, and the trace equals the one
# recorded without the module, for known-count targets and for stacks around and beyond each limit.
# On 6.1, where uprobe programs cannot call kfuncs, the module has no effect.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
. selftests/matrix.lib.sh
# frames above the stack's first four: a record has room for 16 PCs, a stack has 128 at most
DEPTHS="12 13 140"
[[ $(uname -r) == 6.1.* ]] && walker=bpf || walker=module

doctor_says() # TEXT
{
	$GOTRACE doctor >"$tmp/doctor"
	grep '^[a-z]* *module' "$tmp/doctor" && grep -q "^[a-z]* *module *$1" "$tmp/doctor"
}

unwinder_is() # WALKER NAME
{
	jq -e --arg who "$1" '.unwinder == $who and .lost == 0 and .stack_misses == 0' "$tmp/$2.json" ||
		{ cat "$tmp/$2.json"; return 1; }
}

# The transitions of the two players, with their names and stacks, PC by PC.
played() # TRACE
{
	build/gotrace events --json --stacks "$1" |
		awk '/"StateTransition"/ && /"func":"main[.]p/ { line = substr($0, index($0, "\"event\"")) }
			line && !seen[line]++ { print "{" line }' |
		jq -r 'select(.kind == "StateTransition" and (.stack | length > 3) and .reason != "preempted") |
			select(.stack[:2] | any(.func | startswith("main.p"))) |
			"\(.from) \(.to) \(.reason // "-") \(.stack[:2] | map("\(.func):\(.line)") | join(" "))\t" +
			(.stack | map("\(.func)@\(.pc)") | join(" "))' | LC_ALL=C sort -u
}

recorded() # WALKER
{
	local depth

	record_target truth "$ORACLE_GO" "--save-input $tmp/truth.raw" && unwinder_is "$1" truth &&
		build/reference/truth "$RECORDED" "$tmp/truth.done" >"$tmp/counts" ||
		{ cat "$tmp/counts" "$tmp/truth.json"; cp "$tmp/truth.raw" "$VM_SHARE/truth-$step.raw"; return 1; }
	deeds_of "$RECORDED" >"$tmp/deeds-$step"
	cp "$RECORDED" "$VM_SHARE/truth-$step.trace"
	for depth in $DEPTHS; do
		record_target pingpong "$ORACLE_GO" "" -duration 100ms -rate 500 -deeper "$depth" &&
			unwinder_is "$1" pingpong || return 1
		played "$RECORDED" >"$tmp/played-$depth-$step"
		cp "$RECORDED" "$VM_SHARE/deep-$depth-$step.trace"
	done
}

# The scheduler decides which of the two reaches a channel first: only transitions in both traces
# are compared.
same() # DEPTH
{
	local side

	for side in without with; do
		cut -f 1 "$tmp/played-$1-$side" | LC_ALL=C sort -u >"$tmp/names-$side"
	done
	LC_ALL=C comm -12 "$tmp/names-without" "$tmp/names-with" >"$tmp/names"
	for side in without with; do
		LC_ALL=C join -t $'\t' "$tmp/names" "$tmp/played-$1-$side" >"$tmp/both-$side"
	done
	echo "$(wc -l <"$tmp/names") transitions, stacks of" \
		"$(cut -f 2 "$tmp/both-with" | awk '{ print NF }' | sort -nu | xargs) frames"
	[ "$(wc -l <"$tmp/names")" -ge 4 ] || return 1
	cmp "$tmp/both-without" "$tmp/both-with" && return
	diff "$tmp/both-without" "$tmp/both-with" | cut -c 1-1500 | head -n 6
	return 1
}

all_same()
{
	local depth

	for depth in $DEPTHS; do
		same "$depth" || { echo "$depth frames more differ"; return 1; }
	done
}

loaded()
{
	insmod "$VM_MODULE" && [ -c /dev/gotrace ]
}

# The module cannot be unloaded while its functions are in use, and the recording goes on; then it
# can.
held_while_used()
{
	start_target pingpong "$ORACLE_GO" -duration 1s -rate 100 &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/held.trace" && recorder_is_live || return 1
	[ "$walker" = bpf ] || ! rmmod gotrace || { echo "it was unloaded"; return 1; }
	stop_recorder && build/gotrace check "$tmp/held.trace" && tell_target start &&
		expect_target done 60 && stop_target && wait_until 10 rmmod gotrace
}

ktap_start
if [ "$walker" = bpf ]; then
	try "doctor: it would have no effect" doctor_says 'not loaded: before Linux 6.10'
	try "the module loads" loaded
	try "doctor: it has no effect" doctor_says 'loaded, but without effect'
else
	try "doctor: it is not loaded" doctor_says 'not loaded (optional)'
	step=without
	try "without the module" recorded bpf
	try "the module loads" loaded
	try "doctor: it is loaded" doctor_says 'loaded: '
	step=with
	try "with the module" recorded module
	try "the same transitions with the same stacks" same_deeds "$tmp/deeds-without" "$tmp/deeds-with"
	try "the same stacks of $DEPTHS frames plus four" all_same
fi
try "the module cannot be unloaded while it is in use" held_while_used
ktap_end
