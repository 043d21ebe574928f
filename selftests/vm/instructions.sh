#!/bin/bash
# The cost of a recorded event for the traced program in instructions, with its stack of 20 frames
# walked in BPF, by the module, or not at all. Counted, not timed: with -icount the guest's clock
# advances by 1 ns with each instruction of its only CPU, so a program's CPU time is their number
# (and the same in each run except for interrupts).
#
#     selftests/vm/instructions.sh [DURATION]    of guest time, for each way to record; default 100ms
. "$(dirname "$0")/../lib.sh"
. selftests/vm.lib.sh

# The guest's measurements as instructions per event, one line "NAME NUMBER" per way to record
per_event()
{
	awk '$1 == "untraced" { base = $2 / $3; next }
		match($0, /"probe_hits":[0-9]+/) {
			hits = substr($0, RSTART + 13, RLENGTH - 13)
			print $1, ($2 - base * $3) / hits
		}' "$tmp/measured"
}

explain()
{
	per_event | awk '{ printf "%s: %.0f instructions per event", $1, $2 }
		$1 == "no-stacks" { base = $2 }
		$1 != "no-stacks" { printf ", %.0f of these for the stack", $2 - base }
		{ print "" }'
}

measured() # NAME...
{
	local name

	cat "$tmp/measured"
	for name; do
		grep -q "^$name .*\"lost\":0," "$tmp/measured" || { tail -n 30 "$tmp/vm/console"; return 1; }
	done
}

# In Go's reader the stacks of one of the two goroutines have exactly this many frames, those of the
# other one more.
twenty_frames() # TRACE
{
	check_trace "$1" && build/reference/events "$1" >"$tmp/events" &&
		awk -F'\t' '/runtime.chan(send1|recv[12])"@/ {
			n = gsub(/"@/, "", $NF); count[n]++ }
			END {
				for (n in count) { print n, count[n]; all += count[n] }
				exit !(count[20] > 100 && count[20] + count[21] > 0.99 * all)
			}' \
			"$tmp/events"
}

a_third()
{
	per_event | awk '{ cost[$1] = $2 }
		END { exit !(cost["bpf"] > cost["no-stacks"] &&
			(cost["module"] - cost["no-stacks"]) * 3 <= cost["bpf"] - cost["no-stacks"]) }'
}

ktap_start
trap 'vm_cleanup; ktap_cleanup' EXIT
if ! vm_have 6.12; then
	not_ok "SKIPPED, instructions were not counted: $VM_REASON"
	ktap_end
fi
mkdir -p "$tmp/vm/share"
VM_MODULE=
[ ! -e kmod/main.c ] || try "the module builds" vm_module "$VM_RELEASE" || ktap_end
echo "export PATH='$PATH' VM_MODULE='$VM_MODULE'; bash selftests/vm/instructions.guest.sh ${1-100ms}" >"$tmp/vm/share/start"
vm_boot 6.12 "$tmp/vm" $((780 * stretch)) -icount shift=0,sleep=off >"$tmp/measured"
try "untraced, without stacks, and walked in BPF" measured no-stacks bpf
note "$(explain)"
try "the stacks have 20 frames" twenty_frames "$tmp/vm/share/bpf.trace"
if [ -n "$VM_MODULE" ]; then
	try "unwound by the module" measured module
	try "those of the module have 20 frames" twenty_frames "$tmp/vm/share/module.trace"
	try "the module needs at most a third of the instructions of BPF for unwinding" a_third
fi
ktap_end
