#!/bin/bash
# Runs in the guest, started by selftests/vm/run: one group of tests after the other. Lines that
# begin with "#begin", "#end", "#left", "#trouble" and "#over" are for the runner, which thereby
# detects a guest that died or hangs.
#
#     guest.sh SECONDS SCRIPT...    each script is limited by its own limit and by the rest of SECONDS
#
# $GT_SLOWNESS, which the host sets, stretches the limits of the scripts and the deadlines in them.

says() # SCRIPT WHAT: prints the value of a line "# WHAT: ..." in its head comment; false without one
{
	sed -n "/^[^#]/q; s/^# $2: //p" "$1" | grep .
}

# SCRIPT VERB: loads or unloads the module for a script that asks for it
module()
{
	local problem

	says "$1" module >/dev/null || return 0
	[ "$2" = load ] || echo "#left $(cat /sys/module/gotrace/parameters/{sessions,memory} | paste -sd" ")"
	case $2 in
	load) problem=$(insmod "$VM_MODULE" 2>&1) ;;
	unload) problem=$(rmmod gotrace 2>&1) ;;
	esac && return
	echo "#trouble the module does not $2: ${problem//$'\n'/ }"
}

limit_of() # SCRIPT
{
	local own left=$((deadline - SECONDS))

	own=$(($(says "$1" timeout || echo 60) * ${GT_SLOWNESS:-1}))
	[ $left -gt 1 ] || left=1
	echo $((own < left ? own : left))
}

deadline=$1
shift
for script; do
	name=$(basename "$script" .sh)
	echo "#begin $name"
	started=$SECONDS
	module "$script" load
	timeout -k 5 "$(limit_of "$script")" bash "$script" 2>"$VM_SHARE/$name.err" </dev/null
	echo "#end $name $? $((SECONDS - started))"
	module "$script" unload
done
dmesg >"$VM_SHARE/dmesg"
echo "#over"
