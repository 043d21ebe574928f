#!/bin/bash
# Several processes in one recording (record --rotate and flight with -p, --exe, --cgroup, --unit): those
# that run and those that start later are recorded, each completely and to files of its own; what is not
# selected or not a Go program is not recorded; the work for it is bounded; all recorders end together.
# tier: all
# parallel
# timeout: 400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/launched.lib.sh

traces_of() { traces | grep -e "-$1-2"; } # PID
has_traces_of() { [ -n "$(traces_of "$1")" ]; }
recorded_pids() { index | cut -f 1 | sed 's/.*-\([0-9]*\)-2[0-9]*T.*/\1/' | sort -un; } # from the names, which end with PID-TIME
recorded_are() { [ "$(recorded_pids)" = "$(printf '%s\n' "$@" | sort -n)" ]; } # PID...

daemon() # NAME OPTION...: records to $tmp/NAME
{
	DIR=$tmp/$1
	start_background $GOTRACE record --rotate 1s -o "$DIR" "${@:2}" && wait_until 20 messages '^gotrace-bpf: \(recording\|no process\)'
}

lives() { launch "$@" && is_recorded "$PID" && play "$PID" && leave "$PID"; } # FILE [ARGUMENT...]: from start to end

adds_up() # PID
{
	are_all_blocks "$(blocks_in $(traces_of "$1"))" <(result_of "$1")
}

# The first is running already, the second starts later; both work at the same time.
two()
{
	local first second
	program two && launch "$tmp/bin/two" -duration 3s -rate 3000 || return 1
	first=$PID
	daemon two --exe two && is_recorded "$first" && launch "$tmp/bin/two" -duration 3s -rate 3000 || return 1
	second=$PID
	is_recorded "$second" && send "$first" start && play "$second" && wait_until 60 is_done "$first" &&
		leave "$first" && leave "$second" && stop_recorder && nothing_left && each_is_valid &&
		recorded_are "$first" "$second" && adds_up "$first" && adds_up "$second" &&
		listed 6 && grep -q 'recorded 2 programs: .* 0 lost' "$tmp/background.out"
}

restarts()
{
	local pids=()
	program again && daemon restarts --exe "$PWD/$tmp/bin/again" || return 1
	for i in 1 2 3 4 5 6 7 8 9 10; do
		lives "$tmp/bin/again" -duration 1200ms -rate 500 || return 1
		pids+=("$PID")
	done
	stop_recorder && nothing_left && each_is_valid && recorded_are "${pids[@]}" &&
		for pid in "${pids[@]}"; do adds_up "$pid" || return 1; done
}

# The daemon ends with the last of them, and a child of one is not recorded.
by_pid()
{
	local first second
	program bypid && launch "$tmp/bin/bypid" -duration 1s -rate 500 && first=$PID && launch "$tmp/bin/bypid" -duration 1s -rate 500 &&
		second=$PID && daemon by_pid -p "$first" -p "$second" && is_recorded "$first" && is_recorded "$second" && play "$first" &&
		leave "$first" && play "$second" && leave "$second" && landed && nothing_left && each_is_valid &&
		recorded_are "$first" "$second" && adds_up "$first" && adds_up "$second"
}

# A shell, a script and another Go program become the program: by exec, in the same process.
by_exec()
{
	program execs && program last && daemon execs --exe execs --exe last || return 1
	printf '#!/bin/sh\nexec %s "$@"\n' "$PWD/$tmp/bin/execs" >"$tmp/bin/script" && chmod +x "$tmp/bin/script" &&
		lives "$tmp/bin/script" -duration 1s -rate 500 &&
		lives sh -c "exec sh -c 'exec $tmp/bin/last -duration 1s -rate 500'" && stop_recorder && each_is_valid && [ "$(recorded_pids | wc -l)" -eq 2 ]
}

# Only the last is a Go program, which is recorded though its file is deleted.
planted()
{
	local other
	mkdir -p "$tmp/planted" && program victim && cp "$(type -P sleep)" "$tmp/planted/victim" && daemon planted --exe victim || return 1
	"$tmp/planted/victim" 60 &
	other=$!
	background+=("$other")
	(exec -a victim sleep 60) &
	background+=("$!")
	printf '#!/bin/sh\nsleep 1\n' >"$tmp/planted/script" && chmod +x "$tmp/planted/script" &&
		mv "$tmp/planted/script" "$tmp/planted/victim.sh" && "$tmp/planted/victim.sh"
	lives "$tmp/bin/victim" -duration 1200ms -rate 500 &&
		launch "$tmp/bin/victim" -duration 1200ms -rate 500 && rm "$tmp/bin/victim" && is_recorded "$PID" && play "$PID" && leave "$PID" &&
		kill -0 "$other" && stop_recorder && [ "$(recorded_pids | wc -l)" -eq 2 ] && [ "$(messages 'is not recorded')" -eq 0 ]
}

# gotrace-bpf waits for processes of these paths: nothing is opened, and nothing hangs.
odd_paths()
{
	local path
	ln -s nowhere "$tmp/dangling" && mkfifo "$tmp/fifo" || return 1
	for path in "$PWD/$tmp/dangling" "$PWD/$tmp/fifo" /nowhere/at/all; do
		daemon "odd${path##*/}" --exe "$path" && kill -0 "$BACKGROUND_PID" || return 1
		stop_recorder
		[ $? -eq 1 ] && grep -q 'nothing was recorded' "$tmp/background.out" || return 1
	done
}

# Of the same Go release as the others, but the version that the file states is too old.
unsupported()
{
	program old && LC_ALL=C sed -i "s/$ORACLE_GO/go1.5.10/g" "$tmp/bin/old" && daemon unsupported --exe old || return 1
	for i in 1 2 3; do
		launch "$tmp/bin/old" -duration 100ms && wait_until 20 messages 'is not recorded' && pause 600 && play "$PID" && leave "$PID" || return 1
	done
	stop_recorder
	[ $? -eq 1 ] && [ "$(messages 'is not recorded')" -eq 1 ]
}

cpu_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; } # PID

# Programs of another name, then of the same name: what that costs the daemon is shown, and a program
# that starts in between is recorded.
storm()
{
	local before after name pid
	program calm && mkdir -p "$tmp/storm" && cp "$(type -P true)" "$tmp/storm/calm" && cp "$(type -P true)" "$tmp/storm/other" &&
		daemon storm --exe calm || return 1
	for name in other calm; do
		before=$(cpu_ms "$BACKGROUND_PID")
		(end=$((SECONDS + 5)) n=0; while [ $SECONDS -lt $end ]; do "$tmp/storm/$name"; n=$((n + 1)); done; echo $n >"$tmp/execs.$name") &
		pid=$!
		wait $pid
		after=$(cpu_ms "$BACKGROUND_PID")
		echo "$(cat "$tmp/execs.$name") execs of '$name' in 5 s: the daemon used $((after - before)) ms" >>"$tmp/cost"
	done
	(while :; do "$tmp/storm/calm"; done) &
	pid=$!
	background+=("$pid")
	lives "$tmp/bin/calm" -duration 1200ms -rate 500
	local status=$?
	kill $pid
	[ $status -eq 0 ] && stop_recorder && each_is_valid && adds_up "$PID"
}

# A program that repeatedly ends at once is tried few times; once it stays it is recorded.
crash_loop()
{
	local starts
	mkdir -p "$tmp/bin" && cp "build/targets/$ORACLE_GO/tiny" "$tmp/bin/crash" && daemon crash -v --exe crash || return 1
	for ((i = 0; i < 300; i++)); do "$tmp/bin/crash" -duration 1ms >/dev/null; done
	starts=$(messages 'is not recorded\|recording process')
	echo "$starts recorders for 300 starts"
	"$tmp/bin/crash" -duration 60s >/dev/null &
	background+=("$!")
	[ "$starts" -le 60 ] && is_recorded $! && kill $! && stop_recorder && each_is_valid
}

hierarchy()
{
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ "$(stat -f -c %T "$root" 2>/dev/null)" != cgroup2fs ] || { echo $root; return; }
	done
	return 1
}

in_cgroup() { echo "$BASHPID" >"$1/cgroup.procs" && exec "${@:2}"; } # FOLDER COMMAND...

empty_cgroup() # FOLDER: its processes have ended
{
	wait_until 10 rmdir "$1"
}

# Not those outside, nor those in it that are not Go programs; what is moved into it; after it has been
# created again.
cgroup()
{
	local top=$1 outside inside moved again
	shift
	program member && mkdir -p "$top/below" && daemon "in$LAUNCHED" "$@" && launch "$tmp/bin/member" -duration 1200ms -rate 500 && outside=$PID &&
		launch in_cgroup "$top/below" "$tmp/bin/member" -duration 1200ms -rate 500 && inside=$PID && is_recorded "$inside" &&
		(in_cgroup "$top" sleep 0.2) && launch "$tmp/bin/member" -duration 1200ms -rate 500 && moved=$PID && echo "$moved" >"$top/cgroup.procs" &&
		is_recorded "$moved" && play "$inside" && play "$moved" && play "$outside" && leave "$inside" && leave "$moved" &&
		empty_cgroup "$top/below" && empty_cgroup "$top" && pause 500 && mkdir "$top" &&
		launch in_cgroup "$top" "$tmp/bin/member" -duration 1200ms -rate 500 && again=$PID && is_recorded "$again" && play "$again" &&
		leave "$again" && leave "$outside" && stop_recorder && each_is_valid && empty_cgroup "$top" &&
		recorded_are "$inside" "$moved" "$again" && adds_up "$inside" && adds_up "$moved" && adds_up "$again"
}

# A snapshot of one, then of all by either way, then at their end. The program is a copy: without -p,
# `snapshot` finds the flight recorders of other scripts, too, if they are of the same file.
flights()
{
	local first second GOTRACE=$tmp/gotrace-bpf
	cp build/gotrace-bpf "$GOTRACE" || return 1
	program flier && launch "$tmp/bin/flier" -duration 8s -rate 500 && first=$PID && launch "$tmp/bin/flier" -duration 8s -rate 500 && second=$PID || return 1
	DIR=$tmp/flights
	start_background $GOTRACE flight --exe flier --window 5s --tail 100ms -o "$DIR" && is_recorded "$first" && is_recorded "$second" &&
		send "$first" start && send "$second" start && pause 1500 && $GOTRACE snapshot -p "$second" && wait_until 20 snapshots_are 1 &&
		has_traces_of "$second" && $GOTRACE snapshot && wait_until 20 snapshots_are 3 && has_traces_of "$first" &&
		kill -USR1 "$BACKGROUND_PID" && wait_until 20 snapshots_are 5 &&
		refused 1 "no running 'gotrace-bpf flight' of that process" $GOTRACE snapshot -p "$BACKGROUND_PID" &&
		wait_until 60 is_done "$first" && wait_until 60 is_done "$second" && leave "$first" && leave "$second" && wait_until 20 snapshots_are 7 &&
		stop_recorder && each_is_valid && [ "$(index | grep -c -e '-exit.trace')" -eq 2 ] && [ "$(traces_of "$first" | wc -l)" -eq 3 ]
}

# SIGNAL STATUS: the recorders end with the daemon, with complete files and without probes in the targets.
ended_by()
{
	local first second recorders status
	program "end$1" && launch "$tmp/bin/end$1" -duration 2s -rate 500 && first=$PID && launch "$tmp/bin/end$1" -duration 2s -rate 500 && second=$PID &&
		daemon "end$1" --exe "end$1" && is_recorded "$first" && is_recorded "$second" && play "$first" && play "$second" || return 1
	recorders=$(children "$BACKGROUND_PID")
	[ "$(wc -w <<<"$recorders")" -eq 2 ] && ! text_is_clean "$first" && kill "-$1" "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	echo "status $status"
	[ $status -eq "$2" ] && wait_until 20 none_runs $recorders && text_is_clean "$first" && text_is_clean "$second" && nothing_left &&
		each_is_valid && adds_up "$first" && adds_up "$second" && leave "$first" && leave "$second"
}

ktap_start
try "two programs, one of which starts later" two
try "ten restarts" restarts
try "several processes by PID" by_pid
try "programs that scripts and shells execute" by_exec
try "programs of the same name that are not Go programs" planted
try "a dangling link, a FIFO and a file that does not exist" odd_paths
try "a program that cannot be recorded is reported once" unsupported
try "execs at a high rate" storm
[ ! -e "$tmp/cost" ] || note "$(cat "$tmp/cost")"
try "a crash loop" crash_loop
if root=$(hierarchy) && mkdir -p "$root/gotrace-test.slice"; then
	try "a cgroup" cgroup "$root/gotrace-test.slice/box$$" --cgroup "gotrace-test.slice/box$$"
	try "a cgroup and an executable" cgroup "$root/gotrace-test.slice/box$$" --cgroup "/gotrace-test.slice/box$$" --exe member
	mkdir -p "$root/gotrace-test.slice/box$$.service"
	try "a unit" cgroup "$root/gotrace-test.slice/box$$.service" --unit "box$$"
	rmdir "$root/gotrace-test.slice" 2>/dev/null
else
	skip "cgroups" "no cgroup can be created here"
fi
try "flight recorders of several processes" flights
try "SIGTERM ends all" ended_by TERM 0
try "the recorders end when the daemon is killed" ended_by KILL 137
try "no such process" refused 1 'there is no process 2147483647' $GOTRACE record -p 2147483647 -p $$ --rotate 1s -o "$tmp/x"
[ -d /run/systemd/system ] || try "a unit without systemd" refused 1 'systemd does not run' $GOTRACE record --unit none --rotate 1s -o "$tmp/x"
try "without --rotate" refused 2 'requires --rotate' $GOTRACE record --exe x -o "$tmp/x"
try "cgroup and unit" refused 2 'only one of' $GOTRACE record --cgroup x --unit y --rotate 1s -o "$tmp/x"
try "inline probes" refused 2 'cannot be combined with --probes=inline' $GOTRACE flight --exe x --probes=inline -o "$tmp/x"
try "an invalid unit" refused 1 'invalid unit' $GOTRACE record --unit ../x --rotate 1s -o "$tmp/x"
try "a directory that cannot be used" refused 1 'cannot write to the directory' $GOTRACE record --exe x --rotate 1s -o /proc/none
ktap_end
