# What the scripts that lose records share; read after lib.sh and record.lib.sh.

# GO "RECORD OPTIONS" [SECONDS...]: records the target lossy, and stops the recorder for each of the
# times while the load lasts; then judges what came of it.
lossy()
{
	local go=$1 options=$2 pause
	shift 2

	RECORDED=$tmp/lossy.trace
	rm -f "$tmp"/lossy.*
	start_target lossy "$go" || return 1
	# shellcheck disable=SC2086 # options are words
	start_background $GOTRACE record -p "$TARGET_PID" -o "$RECORDED" --stats "$tmp/lossy.json" \
		--raw "$tmp/lossy.raw" $options
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
	judge_lossy "$options"
}

judge_lossy() # RECORD OPTIONS
{
	check_trace "$RECORDED" && build/reference/validate -strict "$RECORDED" &&
		gap_is_told &&
		build/reference/truth "$RECORDED" "$tmp/lossy.done" &&
		build/reference/alive "$RECORDED" "$tmp/lossy.done" &&
		late_stacks && same_by_replay "$1" &&
		echo "$(jq -c '{lost, gaps, resnapshots, corrected, repairs}' "$tmp/lossy.json")"
}

# The same number by kind in --stats, in the trace and in its gaps, which lie within it.
gap_is_told()
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
		all($p.gaps[]; .from <= .to)' "$tmp/lossy.stat" >/dev/null || return 1
	grep -q 'records were lost in .* --ring-size=' "$tmp/background.out" &&
		build/gotrace stat "$RECORDED" | grep -q '^gaps '
}

# What was lost of stacks was sent again: the events of the last part have theirs.
late_stacks()
{
	local all

	all=$(build/gotrace events "$RECORDED" | grep -c 'GoStop .*(runtime\.Gosched)  \(main\.lateWorker\|runtime\.Gosched\) ')
	echo "$all yields of the last part have stacks"
	[ "$all" -eq 1500 ]
}

same_by_replay() # RECORD OPTIONS: the raw file makes the same trace, snapshots after losses included
{
	# shellcheck disable=SC2046 # words
	build/gotrace-bpf sequence "$tmp/lossy.raw" -o "$tmp/lossy.again" \
		$(grep -o -- '--\(format-version\|tick\)=[^ ]*' <<<"$1") 2>"$tmp/sequence.err" &&
		build/gotrace check "$tmp/lossy.again" &&
		cmp <(build/gotrace events "$RECORDED") <(build/gotrace events "$tmp/lossy.again")
}
