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
	build/gotrace events --json "$1" | jq -r 'select(.kind == "StateTransition" and .goroutine) |
		"\(.goroutine)\t\(.from)\t\(.to)\t\(.reason // "" | tojson)"' |
	awk -F '\t' '
		$2 != $3 && $2 == "Waiting" { n[$1 in why ? why[$1] : "\"\""]++ }
		$3 == "Waiting" && $2 != $3 { why[$1] = $4 }
		END { for (reason in n) print "blocks_total{reason=" reason "} " n[reason] }'
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

# Goroutines by the state that each was put in last, heap and logs. What depends on earlier events is found by awk:
# jq would copy its state for each event.
event_lines() # TRACE
{
	build/gotrace events --json "$1" | jq -r '
		if .kind == "StateTransition" and .goroutine then "g\t\(.goroutine)\t\(.to | ascii_downcase)"
		elif .event == "HeapAlloc" then "heap_bytes\t\t\(.value)"
		elif .event == "HeapGoal" then "heap_goal_bytes\t\t\(.value)"
		elif .event == "UserLog" then "log\t\(.category | tojson)"
		else empty end' |
	awk -F '\t' '
		$1 == "g" { state[$2] = $3; next }
		$1 == "log" { logs[$2]++; next }
		{ last[$1] = $3 }
		END {
			for (g in state) goroutines[state[g]]++
			delete goroutines["notexist"]
			for (name in goroutines) print "goroutines{state=\"" name "\"} " goroutines[name]
			for (category in logs) print "logs_total{category=" category "} " logs[category]
			for (name in last) if (last[name] != 0) print name " " last[name]
		}'
}

# TRACE: all that its metrics must be. There, what has no name is unknown.
expected_samples()
{
	{
		build/gotrace latency --json "$1" | jq -r "$JQ_LATENCY"
		build/gotrace latency --json "$1" | jq -r "$JQ_LATENCY_SUMS"
		build/gotrace stat --json "$1" | jq -r "$JQ_STAT"
		event_lines "$1"
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
