#!/bin/bash
# The kernel moves pages of the target while it is recorded: a probe that could not read something
# costs its record, and not all that follows.
# tier: all
# timeout: 900
# depends on: Makefile bpf include userspace selftests/targets selftests/collapse.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

move_pages()
{
	python3 selftests/collapse.py "$TARGET_PID" >"$tmp/collapsed" &
	background+=($!)
}

# How often pages are moved just when they are read is left to chance: recordings until it was three times.
recorded_meanwhile()
{
	local stats n missed=0 spoiled=0 lost=0 when_live=move_pages

	for ((n = 0; n < 60 && missed < 3; n++)); do
		record_target truth "$ORACLE_GO" "$EVERY_EVENT" || return 1
		stats=$tmp/truth.json
		missed=$((missed + $(stat_of read_errors "$stats")))
		spoiled=$((spoiled + $(stat_of dropped "$stats") + $(stat_of repairs "$stats")))
		lost=$((lost + $(stat_of lost "$stats")))
	done
	echo "$n recordings, the last with $(cat "$tmp/collapsed") collapses: $missed reads failed, $lost records lost, $spoiled dropped or repaired"
	[ $missed -ge 3 ] && [ $spoiled -le $((4 * (missed + lost))) ] && [ $lost -le $missed ]
}

ktap_start
try "what could not be read costs no more than its record" recorded_meanwhile
note "$(tail -n 1 "$tmp/try.out")"
ktap_end
