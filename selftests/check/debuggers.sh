#!/bin/bash
# Debuggers of the recorded program, which are attached before and during a recording, and when it ends: gdb, and in
# check-long Delve. The recording is right or refused with a reason; the target goes on after it, without probes
# and breakpoints. check/company.sh has a debugger of our own, with a breakpoint at a probe. See faults.lib.sh.
# tier: all
# parallel
# timeout: 300
# long: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/inline selftests/company
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/faults.lib.sh
. selftests/programs.lib.sh
. selftests/debuggers.lib.sh

before() # DEBUGGER
{
	"start_$1" && goes_on && record_as "$mode" || return 1
	is_gone "$BACKGROUND_PID" || { goes_on && sleep 1; }
	"end_$1"
}

during() # DEBUGGER
{
	"start_$1" && goes_on && sleep 1 && "end_$1" && goes_on
}

at_end() # DEBUGGER: it leaves later
{
	"start_$1" && goes_on || return 1
	(sleep 2; "end_$1") &
}

rows_of() # DEBUGGER
{
	for mode in record ${LONG:+rotate flights}; do
		START=true row "$1 is attached before the recording" $mode 0 'recorded' before "$1"
	done
	START=true row "$1 is attached before the recording" inline 1 'is traced by process' before "$1"
	for mode in record inline ${LONG:+flight}; do
		row "$1 is attached during the recording" $mode 0 'recorded' during "$1"
		row "$1 is attached when the recording ends" $mode 0 'recorded' at_end "$1"
	done
}

ktap_start
locked make --no-print-directory $soak >/dev/null
try "gdb is installed" selftests/deps.sh gdb
rows_of gdb
if [ -n "${LONG-}" ]; then
	try "Delve builds" build_delve && rows_of delve
fi
ktap_end
