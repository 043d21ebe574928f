# Recordings with lost records; read after lib.sh and record.lib.sh.

# GO "RECORD OPTIONS" [SECONDS...]: records the target lossy, and stops the recorder for each of the
# times during the load; then checks the trace.
lossy()
{
	local status

	for _ in 1 2 3; do
		lossy_once "$@"
		status=$?
		[ $status -eq 3 ] || return $status
		echo "the machine is busy: the small rings lost records in the last part, too; trying again"
	done
	return 1
}

# A loss in the last part, whose counts are compared, or one after the last resynchronization with
# the process.
lost_at_the_end()
{
	build/gotrace stat --json "$RECORDED" |
		jq -e --argjson late "$(jq .late_ns "$tmp/lossy.done")" '.private |
			.gaps[-1].to > $late or .corrections.count > 0 and .gaps[-1].to > .corrections.to' >/dev/null
}

lossy_once()
{
	local go=$1 options=$2 pause
	shift 2

	RECORDED=$tmp/lossy.trace
	rm -f "$tmp"/lossy.*
	start_target lossy "$go" -pause "$(stretched 1ms)" $(by_tier "-load 800ms -quiet 2s" "" "") || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$RECORDED" --stats "$tmp/lossy.json" \
		--save-input "$tmp/lossy.raw" $options
	recorder_is_live || return 1
	tell_target start
	for pause in "$@"; do
		sleep 0.3
		kill -STOP "$BACKGROUND_PID"
		sleep "$pause"
		kill -CONT "$BACKGROUND_PID"
	done
	expect_target "done" 120 && stop_recorder || return 1
	target_result >"$tmp/lossy.done"
	stop_target || return 1
	! lost_at_the_end || return 3
	check_lossy "$options"
}

check_lossy() # RECORD OPTIONS
{
	check_trace "$RECORDED" && build/reference/validate -strict "$RECORDED" &&
		gap_is_reported &&
		build/reference/truth "$RECORDED" "$tmp/lossy.done" &&
		build/reference/alive "$RECORDED" "$tmp/lossy.done" &&
		late_stacks && same_by_replay "$1" &&
		python3 -B selftests/rawfile.py stats "$tmp/lossy.raw" "$tmp/lossy.json" &&
		jq -c '{lost, gaps, resnapshots, corrected, repairs}' "$tmp/lossy.json"
}

# The number of losses by kind is the same in --stats, in the trace and in its gaps, which lie
# within it.
gap_is_reported()
{
	local lost

	lost=$(stat_of lost "$tmp/lossy.json") && [ "$lost" -gt 0 ] &&
		[ "$(stat_of resnapshots "$tmp/lossy.json")" -gt 0 ] &&
		build/gotrace stat --json "$RECORDED" >"$tmp/lossy.stat" || return 1
	jq -e --argjson lost "$lost" --slurpfile stats "$tmp/lossy.json" '
		.private as $p | ($p.losses | map(select(.kind != "unknown"))) as $kinds |
		([$kinds[].count] | add) == $lost and
		($kinds | map({(.kind): .count}) | add) == $stats[0].lost_by_kind and
		([$p.gaps[].count] | add) == $p.lost and
		all($p.gaps[]; .from <= .to) and
		$p.corrections.count > 0 and $p.corrections.goroutines == $stats[0].corrected and
		$p.corrections.to > $p.gaps[-1].to' "$tmp/lossy.stat" >/dev/null || return 1
	grep -q 'records were lost in .* --ring-size=' "$tmp/background.out" &&
		build/gotrace stat "$RECORDED" | grep -q '^gaps '
}

# Lost stacks were sent again: the events of the last part have theirs. Goroutine 1 may also yield
# while it waits for a garbage collection.
late_stacks()
{
	local all

	all=$(build/gotrace events "$RECORDED" | awk '$4 != "g1"' | grep -c 'GoStop .*(runtime\.Gosched)  \(main\.lateWorker\|runtime\.Gosched\) ')
	echo "$all yields of the last part have stacks"
	[ "$all" -eq 1500 ]
}

same_by_replay() # RECORD OPTIONS: a replay of the raw file gives the same trace, including snapshots after losses
{
	# word splitting is intended
	build/gotrace-bpf replay "$tmp/lossy.raw" -o "$tmp/lossy.again" \
		$(grep -o -- '--\(format-version\|tick\)=[^ ]*' <<<"$1") 2>"$tmp/replay.err" &&
		build/gotrace check "$tmp/lossy.again" &&
		cmp <(build/gotrace events "$RECORDED") <(build/gotrace events "$tmp/lossy.again")
}

# --- `go tool trace -d=parsed`, which reads one file per process

trace_tool() # GO: prints the path of its tool, and the option by which it only parses a trace
{
	case $1 in
	go1.22.* | go1.23.*) echo "$(GOTOOLCHAIN=$1 "${GO:-go}" tool -n trace) -d=1" ;;
	*) echo "$(GOTOOLCHAIN=$1 "${GO:-go}" tool -n trace) -d=parsed" ;;
	esac
}

# Every format is read by the newest tool and by the oldest that supports it. Prints the names of
# rejected files.
refused_by_tools() # reads file names from stdin, separated by NUL
{
	local newest old22 old23 old25

	newest=$(trace_tool "$ORACLE_GO") && old22=$(trace_tool go1.22.12) &&
		old23=$(trace_tool go1.23.12) && old25=$(trace_tool go1.25.3) || return 1
	export newest old22 old23 old25
	xargs -0 -r -n 200 -P "$(nproc)" bash -c '
		for file; do
			$newest "$file" >/dev/null 2>&1 || echo "$file"
			case $(head -c 7 "$file") in
			"go 1.22") old=$old22 ;;
			"go 1.23") old=$old23 ;;
			"go 1.25") old=$old25 ;;
			*) continue ;;
			esac
			$old "$file" >/dev/null 2>&1 || echo "$file (${old##*toolchain@v0.0.1-})"
		done' tools
}

# NAME FOLDER COUNT [VALIDATE OPTION]: validates all traces of a folder with gotrace, x/exp/trace
# and the tools
all_accept()
{
	local name=$1 folder=$2 count=$3 strict=${4-} kind

	find "$folder" -name '*.trace' -print0 | sort -z >"$tmp/names"
	xargs -0 -n 500 -P "$(nproc)" build/reference/validate $strict <"$tmp/names" >"$tmp/validate" 2>&1
	xargs -0 -n 500 build/gotrace check <"$tmp/names" >"$tmp/ours" 2>&1
	for kind in validate ours; do
		[ "$(grep -c '\.trace: ok, ' "$tmp/$kind")" -eq "$count" ] && continue
		note "$kind: $(grep -c '\.trace: ok, ' "$tmp/$kind") of $count"
		note "$(grep -av '\.trace: ok, ' "$tmp/$kind" | head -n 20)"
		not_ok "$name: all $count are valid"
		return 1
	done
	if ! refused_by_tools <"$tmp/names" >"$tmp/refused" || [ -s "$tmp/refused" ]; then
		note "go tool trace: $(head -n 20 "$tmp/refused")"
		not_ok "$name: all $count are valid"
		return 1
	fi
	ok "$name: all $count are valid"
}

# NAME COUNT FIRST OPTION...: runs simulated variants through the sequencer, from FIRST on
lossy_variants()
{
	local name=$1 count=$2 first=$3 half=$(($2 / 2)) folder=$tmp/files pids=() bad=0 i pid
	shift 3

	rm -rf "$folder"
	mkdir -p "$folder"
	for i in 0 1; do
		build/san/replay/mutate -seed "$lossy_seed" -first $((first + i * half)) \
			-n $((i ? count - half : half)) "$@" -o "$folder" >"$tmp/mutate.$i" 2>&1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	note "$(grep -h '^after losses' "$tmp"/mutate.*)"
	[ $bad -eq 0 ] || note "$(grep -hv ' variants, peak memory' "$tmp"/mutate.* | head -n 40)"
	[ $bad -eq 0 ] && ok "$name: the sequencer, the state after it" ||
		not_ok "$name: the sequencer, the state after it"
	all_accept "$name" "$folder" "$count" -strict
	rm -rf "$folder"
}
