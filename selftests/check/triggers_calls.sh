#!/bin/bash
# Triggers of the flight recorder on calls and on the process: each kind, provoked several times, leads to a valid
# snapshot whose cause lies in what the target has provoked, and in an event of the snapshot; a load that never meets
# the conditions leads to none, and one that meets them all the time to few.
# tier: all
# parallel
# timeout: 300
# long: 5400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/triggers.lib.sh

count=$(by_tier 3 3 100) exits=$(by_tier 1 1 100)
provoked="-n $count -gap 1200ms"

functions()
{
	watched func "call $provoked -long 20ms" --trigger func:main.hit && flown_to_the_end && each_has_its_cause func:main.hit "$count" &&
		has_event UserRegionBegin 0 '.type == "main.hit"'
}

regions()
{
	watched region "call $provoked -long 100ms" --region main.hit=work --region main.quick=work --trigger region:work:50ms &&
		flown_to_the_end && each_has_its_cause region:work:50ms "$count" && has_event UserRegionBegin 50000000 '.type == "work"'
}

# Both the request of the client and that of the server are open for too long, one within the interval of the other.
requests()
{
	watched request "request $provoked -long 100ms" --trigger request:50ms && flown_to_the_end && each_has_its_cause request:50ms "$count" &&
		has_event UserTaskBegin 50000000 'true' && grep -q 'request:50ms was met another 1 times' "$tmp/background.out"
}

# A request begins with its first byte, before its task.
named_requests()
{
	local name='GET /slow'

	watched named "request $provoked -long 100ms" --requests http --trigger "request:50ms:$name" \
		--trigger "request:50ms:GET /fast" && flown_to_the_end && each_has_its_cause "request:50ms:$name" "$count" &&
		is_so_before 50000000 "any(input.worst[]; .begin == \$at and .name == \"$name\")" build/gotrace requests --worst=9 --json
}

statuses()
{
	watched status "request $provoked -long 10ms" --requests http --trigger status:5xx --trigger status:404 && flown_to_the_end &&
		each_has_its_cause status:5xx "$count" && has_event UserLog 0 '.message == "503"'
}

signals()
{
	watched signal "signal $provoked -exit 3" --trigger signal:SIGUSR2 --trigger exit
	flown_to_the_end
	each_has_its_cause signal:SIGUSR2 "$count" && [[ $(causes | tail -n 1) == *" exit: the process exited with status 3" ]]
}

# The end of the process is noted as a cause although the list of causes is full.
signals_to_the_end()
{
	watched storm "signal -n 20000 -gap 0s -long 1us -exit 3" --trigger signal:SIGUSR2 --trigger exit --trigger-interval 0s --tail 1m || return 1
	stop_target
	landed
	snapshots_are 1 && grep -aq "exit: the process exited with status 3" "$DIR/$(index | cut -f 1)"
}

killed()
{
	local i

	for ((i = 0; i < exits; i++)); do
		rm -rf "$tmp/killed"
		watched killed "quiet -n 1" --trigger exit || return 1
		kill -KILL "$TARGET_PID"
		landed
		snapshots_are 1 && [[ $(causes) == *" exit: the process was terminated by signal 9 (KILL)" ]] || return 1
	done
}

# The limit is low, and met once, since the machine may be busy. A second without load comes first.
# Beside 24 busy threads on two CPUs, one more gets 8 % of a CPU; before, the program is idle.
cpu()
{
	local n=$exits slack=1000000000

	watched cpu "cpu -n $n -gap 2s -long 4s" --trigger cpu:3% --trigger-interval 4500ms && flown_to_the_end &&
		each_has_its_cause cpu:3% "$n"
}

quiet()
{
	watched quiet "quiet -n $(by_tier 100 100 6000) -gap 50ms" --requests http --region main.quick --trigger func:main.hit \
		--trigger request:10s --trigger region:main.quick:10s --trigger status:5xx --trigger cpu:1000% \
		--trigger signal:SIGUSR2 && flown_to_the_end && snapshots_are 1 &&
		[[ $(causes) == *" the end of the process" ]]
}

# Files and messages are limited by the interval, whatever the number of conditions.
flood()
{
	local seconds=$SECONDS n

	watched flood "flood -n 300000 -gap 0" --no-stacks --max-size 4M --keep 8M --trigger func:main.hit && flown_to_the_end || return 1
	n=$(messages 'snapshot of')
	[ "$n" -ge 2 ] && [ "$n" -le $((SECONDS - seconds + 2)) ] && [ "$(du -sb "$DIR" | cut -f 1)" -le $((8 << 20)) ] &&
		[ "$(grep -c . "$tmp/background.out")" -le $((2 * n + 10)) ] && grep -q 'func:main.hit was met another' "$tmp/background.out"
}

no_such_function()
{
	local failed=0

	start_target conditions "$ORACLE_GO" -n 0 || return 1
	refused 1 'main.nothing' $GOTRACE flight -p "$TARGET_PID" -o "$tmp/x" --trigger func:main.nothing || failed=1
	tell_target start && expect_target done && stop_target && return $failed
}

ktap_start
try "calls of a function" functions
try "regions that are open too long" regions
try "requests that are open too long" requests
try "requests of a name" named_requests
try "statuses of requests" statuses
try "signals, and an exit with its status" signals
try "many signals, up to the exit" signals_to_the_end
try "a process that is killed" killed
try "a busy process" cpu
try "a load that meets no condition" quiet
try "a load that meets one all the time" flood
try "no such function" no_such_function
try "an invalid condition" refused 2 "expected region:NAME:50ms" $GOTRACE flight -p 1 -o "$tmp/x" --trigger region:50ms
ktap_end
