#!/bin/bash
# kernels: 6.12 6.1
# timeout: 300
# Loading and unloading the module: 20 times, 100 on 6.12 in check-long, with all its objects, and not while it is in
# use; its parameters. On 6.12 BPF programs can call its functions; on 6.1, where uprobe programs cannot call
# kfuncs, there is only its device.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
[[ $(uname -r) == 6.1.* || -z ${LONG-} ]] && loads=20 || loads=100

# All in one busybox process, since starting processes is slow here.
loads_and_unloads()
{
	cp "$VM_MODULE" /run/gotrace.ko && busybox sh -c '
		i=0
		while [ $((i += 1)) -le '$loads' ]; do
			insmod /run/gotrace.ko && [ -c /dev/gotrace ] && [ -e /sys/module/gotrace/parameters/sessions ] &&
			rmmod gotrace && ! [ -e /dev/gotrace ] && ! [ -e /sys/kernel/btf/gotrace ] ||
			{ echo "round $i"; exit 1; }
		done'
}

all_there()
{
	[ -c /dev/gotrace ] && [ "$(</sys/module/gotrace/parameters/sessions)" = 0 ]
}

all_gone()
{
	! [ -e /dev/gotrace ] && ! [ -e /sys/module/gotrace ] && ! [ -e /sys/kernel/btf/gotrace ]
}

functions_are_known()
{
	[ -e /sys/kernel/btf/gotrace ] || return 1
	bpftool btf dump -B /sys/kernel/btf/vmlinux file /sys/kernel/btf/gotrace >"$tmp/btf" || return 1
	for function in gotrace_stack_hash gotrace_stack_pcs gotrace_stack_id gotrace_emit; do
		grep -q "FUNC '$function'" "$tmp/btf" || { echo "no $function"; return 1; }
	done
}

walks_stacks() # WALKER
{
	$GOTRACE doctor -v >"$tmp/doctor" 2>&1
	cat "$tmp/doctor"
	grep -q "stacks are unwound by $1" "$tmp/doctor"
}

# VALUE of a parameter, when the module is loaded: refused, and nothing stays of the module
refused_at_load()
{
	! insmod "$VM_MODULE" "$1" && all_gone
}

parameters_at_load()
{
	refused_at_load memory=1 && refused_at_load sessions=1 && refused_at_load max_memory=many &&
		insmod "$VM_MODULE" max_memory=67108864 && [ "$(</sys/module/gotrace/parameters/max_memory)" = 67108864 ] &&
		rmmod gotrace && all_gone
}

parameters_in_sysfs()
{
	local at=/sys/module/gotrace/parameters

	[ "$(cd $at && echo *)" = "max_memory memory sessions" ] || { ls $at; return 1; }
	! echo 1 2>/dev/null >$at/memory && ! echo 1 2>/dev/null >$at/sessions && ! echo many 2>/dev/null >$at/max_memory &&
		echo 67108864 >$at/max_memory && [ "$(<$at/max_memory)" = 67108864 ] && echo 0 >$at/max_memory && all_there
}

refused()
{
	! rmmod gotrace && all_there
}

refused_when_open()
{
	local status

	exec 9<>/dev/gotrace || return 1
	refused
	status=$?
	exec 9>&-
	return $status
}

refused_when_recording()
{
	start_target pingpong "$ORACLE_GO" -duration 300ms -rate 1000 || return 1
	start_background $GOTRACE record -v -p "$TARGET_PID" -o "$tmp/x.trace"
	recorder_is_live && refused && tell_target start && expect_target done && refused && stop_recorder &&
		build/gotrace check "$tmp/x.trace" && stop_target
}

unloads()
{
	rmmod gotrace && all_gone
}

ktap_start
try "loads and unloads $loads times" loads_and_unloads
try "parameters at load" parameters_at_load
try "loads" insmod "$VM_MODULE"
try "parameters in sysfs" parameters_in_sysfs
if [[ $(uname -r) == 6.1.* ]]; then
	try "BPF programs walk stacks" walks_stacks "BPF programs"
	try "unload is rejected while its device is open" refused_when_open
else
	try "its functions are registered" functions_are_known
	try "the module walks stacks" walks_stacks "the kernel module"
	try "unload is rejected while its device is open" refused_when_open
	try "unload is rejected while a recording uses it" refused_when_recording
fi
try "unloads afterwards" unloads
ktap_end
