# Functions for the tests of `gotrace export`, which read its files with the schemas and the programs
# of others; read after lib.sh and reader.lib.sh. A summary is what selftests/export/summary.py or
# trace_processor.py prints.

python=build/python/bin/python
KINDS='net sync syscall sched cpu wall offcpu region task gc' # of profiles

# The schema of Perfetto, and a validator of JSON schemas, of the versions in requirements.txt
install_python()
{
	cmp -s selftests/export/requirements.txt build/python/requirements.txt && return
	rm -rf build/python
	python3 -m venv build/python && build/python/bin/pip -q install --disable-pip-version-check -r selftests/export/requirements.txt &&
		cp selftests/export/requirements.txt build/python/
}

valid_golden() # prints the golden traces, of all formats, that are valid
{
	local trace

	for trace in "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		! $READER check "$trace" >"$tmp/result" 2>&1 || echo "$trace"
	done
}

# SUMMARY TRACE: the states of each goroutine are those of `gotrace goroutines`, which equals Go's. That
# does not count time after a goroutine is blocked for ever.
same_states()
{
	jq -S '.slices.Goroutines // {} | to_entries | map(select(.key | test("^G [0-9]+$")) | {key: .key[2:], value: (.value | to_entries | {
		exec: (map(select(.key == "running").value.ns) | add // 0),
		sched_wait: (map(select(.key == "runnable").value.ns) | add // 0),
		syscall: (map(select(.key == "system call").value.ns) | add // 0),
		block: (map(select(.key | startswith("waiting") and (contains("/") | not)) |
			{key: (.key | sub("^waiting(: )?"; "")), value: .value.ns}) | from_entries | del(.forever))})}) |
		from_entries | map_values(select(.exec + .sched_wait + .syscall + ([.block[]] | add // 0) > 0))' "$1" >"$tmp/states" &&
		$READER goroutines --all --json "$2" | jq -S '[.goroutines[] | {key: (.id | tostring), value: {exec, sched_wait, syscall: (.syscall + .syscall_block),
			block: ([.block[] | {key: .name, value: .time}] | from_entries | del(.forever))}}] |
			from_entries | map_values(select(.exec + .sched_wait + .syscall + ([.block[]] | add // 0) > 0))' >"$tmp/expected" &&
		same_text "$tmp/states" "$tmp/expected"
}

# SUMMARY TRACE: sums over single events: tasks by name, of which open ones last until the last event, values
# of the heap, arrows
same_events()
{
	$READER events --json "$2" | jq -S -n 'def add_task($open; $to): .tasks[$open.type].count += 1 | .tasks[$open.type].ns += $to - $open.time;
		reduce inputs as $e ({tasks: {}, heap: [], goal: [], unblock: 0, create: 0, open: {}, last: 0}; .last = $e.time |
		if $e.kind == "TaskBegin" then .open[$e.task | tostring] = $e
		elif $e.kind == "TaskEnd" and .open[$e.task | tostring] then
			add_task(.open[$e.task | tostring]; $e.time) | del(.open[$e.task | tostring])
		elif $e.kind == "Metric" and $e.name == "/memory/classes/heap/objects:bytes" then .heap += [$e.value]
		elif $e.kind == "Metric" and $e.name == "/gc/heap/goal:bytes" then .goal += [$e.value]
		elif $e.event == "GoUnblock" or $e.event == "GoSwitch" or $e.event == "GoSwitchDestroy" then
			if $e.g != null and $e.goroutine != $e.g and $e.from == "Waiting" then .unblock += 1 else . end
		elif $e.kind == "StateTransition" and $e.from == "NotExist" and $e.goroutine and $e.g then .create += 1
		else . end) | .last as $to | reduce .open[] as $open (.; add_task($open; $to)) | {tasks, heap, goal, unblock, create}' >"$tmp/expected" &&
		jq -S '{tasks: (.slices.Tasks.Tasks // {}), heap: (.counters.Heap // []), goal: (.counters["Heap goal"] // []),
			unblock: (.arrows.unblock // 0), create: (.arrows["create goroutine"] // 0)}' "$1" >"$tmp/sums" &&
		same_text "$tmp/sums" "$tmp/expected"
}

# SUMMARY TRACE: the samples, by stack, are those of the CPU profile.
same_samples()
{
	$READER profile cpu --rate 1000 --folded "$2" | LC_ALL=C sort >"$tmp/expected" &&
		jq -r '.stacks | to_entries[] | "\(.key) \(.value)000000"' "$1" | LC_ALL=C sort >"$tmp/sums" &&
		[ "$(jq .samples "$1")" -gt 10 ] && same_text "$tmp/sums" "$tmp/expected"
}
