# What the metrics of a trace must be, by the other commands of `gotrace`; read after lib.sh.
#
# Both sides are lines "NAME{LABELS} NUMBER", sorted, with times in nanoseconds and without the metrics
# whose value is 0.

# METRICS: its samples. Seconds are printed with all digits, so they become numbers without rounding.
samples_of()
{
	sed -n -E '/^#/d; s/^gotrace_//; s/ ([0-9]+)\.([0-9]{9})$/ \1\2/; s/ 0+([0-9])/ \1/; / 0$/!p' "$1" | LC_ALL=C sort
}

# The labels of a line, from an array of pairs
JQ_LINE='def line($name; $labels; $value): select($value != 0) | $name +
	(if $labels == [] then "" else "{" + ([$labels[] | "\(.[0])=\(.[1] | tojson)"] | join(",")) + "}" end) +
	" \($value)";'

# Time of goroutines, from latency --json
JQ_LATENCY=$JQ_LINE'
	def total(f): [.functions[] | f] | add // 0;
	def reasons($part): [.functions[].by_reason[$part][]] | group_by(.name)[] | {name: .[0].name, ns: (map(.ns) | add)};
	("oncpu", "go_runnable", "kernel_runnable", "throttled", "kernel_blocked", "syscall_blocked", "go_blocked") as $p |
		line("goroutine_time_seconds_total"; [["state", ($p | sub("_"; "-"))]]; total(.[$p + "_ns"])),
		(select($p | IN("kernel_runnable", "kernel_blocked", "syscall_blocked", "go_blocked")) | reasons($p) |
			line("wait_seconds_total"; [["state", ($p | sub("_"; "-"))], ["reason", .name]]; .ns))'
JQ_LATENCY_SUMS=$JQ_LINE'
	def total(f): [.functions[] | f] | add // 0;
	line("goroutine_time_unknown_seconds_total"; []; total(.unknown_ns)),
	line("syscall_cpu_seconds_total"; []; total(.of_which.syscall_oncpu_ns)),
	line("gc_assist_seconds_total"; []; total(.of_which.gc_assist_ns)),
	line("thread_migrations_total"; []; total(.migrations)),
	(.functions[] | line("cpu_seconds_total"; [["function", .name]]; .oncpu_ns)),
	(.gc_workers[] | line("gc_worker_seconds_total"; [["mode", .mode]]; .wall_ns),
		line("gc_worker_cpu_seconds_total"; [["mode", .mode]]; .oncpu_ns))'

# A histogram, from histogram --json. The bounds are made from its own, which are powers of two.
JQ_HISTOGRAM=$JQ_LINE'
	. as $h | ((range(10; 35) | pow(2; .) | round) as $below |
		line($name + "_bucket"; $labels + [["le", $below - 1]];
			[$h.buckets[] | select(.below_ns <= $below).count] | add // 0)),
	line($name + "_bucket"; $labels + [["le", "+Inf"]]; .count),
	line($name + "_count"; $labels; .count), line($name + "_sum"; $labels; .sum_ns)'

# Goroutines by state, heap and logs, from events --json: the state that each goroutine was put in last
JQ_EVENTS=$JQ_LINE'
	reduce inputs as $e ({};
		if $e.kind == "StateTransition" and $e.goroutine then .g["\($e.goroutine)"] = $e.to
		elif $e.event == "HeapAlloc" then .heap = $e.value
		elif $e.event == "HeapGoal" then .goal = $e.value
		elif $e.event == "UserLog" then .logs[$e.category] += 1
		else . end) |
	(.g // {} | to_entries | group_by(.value)[] | select(.[0].value != "NotExist") |
		line("goroutines"; [["state", (.[0].value | ascii_downcase)]]; length)),
	line("heap_bytes"; []; .heap // 0), line("heap_goal_bytes"; []; .goal // 0),
	(.logs // {} | to_entries[] | line("logs_total"; [["category", .key]]; .value))'

JQ_STAT=$JQ_LINE'
	line("up"; []; 1), line("events_total"; []; .events), line("kernel_events_total"; []; .kernel.items // 0),
	line("generations_total"; []; .generations | length), line("recorded_seconds_total"; []; .duration),
	line("created_goroutines_total"; []; .goroutines.created), line("ended_goroutines_total"; []; .goroutines.ended),
	line("gomaxprocs"; []; .gomaxprocs), (.private.losses[] | line("lost_records_total"; [["kind", .kind]]; .count))'

# TRACE OF NAME LABELS: the lines of one histogram
histogram_lines()
{
	build/gotrace histogram --json --of "$2" "$1" | jq -r --arg name "$3" --argjson labels "$4" "$JQ_HISTOGRAM"
}

# TRACE LIST-OF-REASONS: pauses by reason, and how often goroutines were blocked
reason_lines()
{
	local reason

	build/gotrace events --json "$1" | jq -r 'select(.kind == "RangeBegin") | .name |
		select(startswith("stop-the-world (")) | sub("^stop-the-world \\("; "") | sub("\\)$"; "")' | sort -u |
	while read -r reason; do
		histogram_lines "$1" "stw:$reason" stw_pause_seconds "$(jq -n --arg r "$reason" '[["reason", $r]]')"
	done
	build/gotrace events --json "$1" | jq -nr "$JQ_LINE"'
		reduce inputs as $e ({}; if $e.kind != "StateTransition" or ($e.goroutine | not) then .
			elif $e.from != $e.to and $e.from == "Waiting" then .n[.why["\($e.goroutine)"] // ""] += 1
			else . end |
			if $e.kind == "StateTransition" and $e.goroutine and $e.to == "Waiting" and $e.from != "Waiting"
			then .why["\($e.goroutine)"] = ($e.reason // "") else . end) |
		.n // {} | to_entries[] | line("blocks_total"; [["reason", .key]]; .value)'
}

# Requests by name, from the tasks themselves: their durations in buckets
request_lines() # TRACE
{
	build/gotrace events --json --type UserTaskBegin,UserTaskEnd "$1" | jq -nr "$JQ_LINE"'
		reduce inputs as $e ({};
			if $e.event == "UserTaskBegin" then .open["\($e.task)"] = $e
			elif .open["\($e.task)"] then
				.ns[.open["\($e.task)"].type] += [$e.time - .open["\($e.task)"].time] |
				del(.open["\($e.task)"])
			else . end) |
		.ns // {} | to_entries[] | .key as $name | .value as $ns |
		((range(10; 35) | pow(2; .) | round) as $below | line("request_duration_seconds_bucket";
			[["name", $name], ["le", $below - 1]]; [$ns[] | select(. < $below)] | length)),
		line("request_duration_seconds_bucket"; [["name", $name], ["le", "+Inf"]]; $ns | length),
		line("request_duration_seconds_count"; [["name", $name]]; $ns | length),
		line("request_duration_seconds_sum"; [["name", $name]]; $ns | add)'
	build/gotrace requests --json "$1" | jq -r "$JQ_LINE"'
		line("requests_unbegun_total"; []; .unbegun), (.requests[] |
			line("request_errors_total"; [["name", .name]]; .errors),
			line("request_cpu_seconds_total"; [["name", .name]]; .time.oncpu_ns))'
}

# TRACE: all that its metrics must be. There, what has no name is unknown.
expected_samples()
{
	{
		build/gotrace latency --json "$1" | jq -r "$JQ_LATENCY"
		build/gotrace latency --json "$1" | jq -r "$JQ_LATENCY_SUMS"
		build/gotrace stat --json "$1" | jq -r "$JQ_STAT"
		build/gotrace events --json "$1" | jq -nr "$JQ_EVENTS"
		histogram_lines "$1" sched sched_latency_seconds '[]'
		histogram_lines "$1" runqueue run_queue_delay_seconds '[]'
		histogram_lines "$1" syscall syscall_seconds '[]'
		histogram_lines "$1" gc gc_cycle_seconds '[]'
		reason_lines "$1"
		request_lines "$1"
	} | sed -E 's/(reason|function)=""/\1="unknown"/' | LC_ALL=C sort
}

# METRICS TRACE: bounds, in seconds there, are in nanoseconds here.
metrics_equal()
{
	samples_of "$1" | awk '{
		if (match($0, /le="[0-9.e-]+"/)) {
			bound = substr($0, RSTART + 4, RLENGTH - 5)
			$0 = substr($0, 1, RSTART + 2) sprintf("%.0f", bound * 1e9) substr($0, RSTART + RLENGTH)
		}
		print
	}' | LC_ALL=C sort >"$tmp/found"
	expected_samples "$2" >"$tmp/wanted"
	[ -s "$tmp/wanted" ] && diff "$tmp/found" "$tmp/wanted"
}
