# What the recorder writes into the directory $DIR (record --rotate, record --sample, flight): files, and their
# index. Read after lib.sh and record.lib.sh.

DIR=
index() { [ ! -e "$DIR/index.tsv" ] || tail -n +2 "$DIR/index.tsv"; } # one line per file; none if there is no index
traces() { index | cut -f 1 | sed "s,^,$DIR/,"; }
listed() { [ "$(index | wc -l)" -ge "$1" ]; } # NUMBER, or more
snapshots_are() { [ "$(index | wc -l)" -eq "$1" ]; } # NUMBER, exactly
each_is_valid() { traces | xargs build/gotrace check && traces | xargs build/reference/validate -strict; }
nothing_left() { [ -z "$(find "${1-$DIR}" -name '*.partial*')" ]; } # [DIRECTORY]: it has no incomplete file

start_of() { build/gotrace stat --json "$1" | jq .start; } # FILE
cause_of() { build/gotrace stat --json "$1" | jq -r '[.. | .cause? // empty][0]'; }
cause_time_of() { build/gotrace stat --json "$1" | jq -r '[.. | .cause_time? // empty][0]'; }

landed() { wait "$BACKGROUND_PID"; } # the recorder ends with its target
messages() { grep -c -- "$1" "$tmp/background.out"; } # PATTERN: prints how many lines of the recorder match; false for 0
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$BACKGROUND_PID/status"; } # the recorder's memory in KiB

# FILE...: prints how many times goroutines blocked on channels in all of them, by Go's reader
blocks_in()
{
	local file

	for file; do build/reference/validate -counts "$file" | tail -n +2; done |
		jq -es '[.[].goroutine_transitions | to_entries[] | select(.key | test("running->waiting .chan")) | .value] | add'
}

# BLOCKS RESULT: they are all of pingpong, whose result is in this file. Each meeting of its two goroutines blocks one
# of them, and the last block never ends.
are_all_blocks()
{
	jq -e --argjson blocks "$1" '(.round_trips * 2) as $n | $blocks == $n or $blocks == $n + 1' "$2"
}
