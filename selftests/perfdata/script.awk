# `perf script -F pid,tid,cpu,time,event,trace --ns`, each event of the scheduler as events.c prints it.
# How this kernel spells prev_state is known here: a letter a bit, and + for what was preempted.
BEGIN {
	n = split("S D T t X Z P I +", letters, " ")
	for (i = 1; i <= n; i++)
		bit[letters[i]] = 2 ^ (i - 1)
}

function after(s, key)
{
	return substr(s, index(s, key) + length(key))
}

function before(s, key)
{
	return substr(s, 1, index(s, key) - 1)
}

# "... COMM=name PID=7 ..." as "[name] 7"
function thread(s, comm, pid)
{
	return "[" before(after(s, comm), pid) "] " after(s, pid) + 0
}

function state(s,	i, v)
{
	sub(/ .*/, "", s)
	for (i = 1; i <= length(s); i++)
		v += bit[substr(s, i, 1)]
	return v + 0 (v % 256 ? "" : " R")
}

function fields(event, t)
{
	if (event == "sched_switch")
		return thread(t, "prev_comm=", " prev_pid=") " " state(after(t, " prev_state=")) " " \
			thread(after(t, " ==> "), "next_comm=", " next_pid=")
	if (event == "sched_process_fork")
		return thread(t, "comm=", " pid=") " " thread(t, "child_comm=", " child_pid=")
	t = thread(t, "comm=", " pid=") " " t
	if (event == "sched_migrate_task")
		return before(t, " comm=") " " after(t, " orig_cpu=") + 0 " " after(t, " dest_cpu=") + 0
	if (event ~ /^sched_(waking|wakeup|wakeup_new)$/)
		return before(t, " comm=") " " after(t, " target_cpu=") + 0
	return before(t, " comm=")
}

$4 ~ /^sched:/ {
	split($1, id, "/")
	gsub(/[^0-9]/, "", $2)
	event = $4
	gsub(/^sched:|:$/, "", event)
	trace = after($0, $4 " ")
	gsub(/[.:]/, "", $3)
	sub(/^0+/, "", $3)
	if (event !~ /^sched_(switch|process_fork|process_exit|waking|wakeup|wakeup_new|migrate_task|stat_.*)$/)
		trace = ""
	print $3, $2 + 0, id[1], id[2], event (trace == "" ? "" : " " fields(event, trace))
}
