#!/bin/bash
# `make soak`: inline probes are put into running programs and taken out 20,000 times, at full rate,
# and 2,000 times the recorder, its guardian or both are killed at any point of that. The program
# verifies all its results meanwhile; its whole code is compared with its file after each attachment
# and each kill. Then the counts of whole recordings are compared with those of the programs.
#
#     SOAK="20000 2000 20"    attachments, kills, recordings of each program
# tier: long
# timeout: 7200
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/programs.lib.sh

soak=build/selftests/inline
read -r cycles kills recordings <<<"${SOAK:-20000 2000 20}"

# FOLDER ARGUMENT...: soak's arguments, with the program `stress` of that folder
soaked()
{
	start_target stress "$1" -duration 7200s || return 1
	tell_target start
	sleep 1
	$soak "$TARGET_PID" "${@:2}" || { cat "$tmp/target.err"; return 1; }
	kill -TERM "$TARGET_PID"
	expect_target done 60 && target_result && stop_target
}

# PROGRAM FOLDER
counted()
{
	local i

	for ((i = 0; i < recordings; i++)); do
		record_target "$1" "$2" "$EVERY_EVENT --probes=inline" &&
			build/reference/truth "$RECORDED" "$tmp/$1.done" >"$tmp/counts" || {
			grep '^not ok' "$tmp/counts"
			return 1
		}
	done
	echo "$recordings recordings, $(grep -c '^ok' "$tmp/counts") counts each"
}

ktap_start
folders=()
for release in 1.22.12 1.24.9; do
	build_programs "$release" plain stress truth
	folders[${#folders[@]}]=$PROGRAMS
done
share=$((cycles / 4)) share_of_kills=$((kills / 4))
for folder in "${folders[@]}"; do
	try "${folder##*/}: $share attachments" soaked "$folder" $share 1
	note "$(cat "$tmp/try.out")"
	try "${folder##*/}: $share_of_kills kills" soaked "$folder" kill $share_of_kills
	note "$(cat "$tmp/try.out")"
done
try "$ORACLE_GO: $((cycles - 2 * share)) attachments" soaked "$ORACLE_GO" $((cycles - 2 * share)) 1
note "$(cat "$tmp/try.out")"
try "$ORACLE_GO: $((kills - 2 * share_of_kills)) kills" soaked "$ORACLE_GO" kill $((kills - 2 * share_of_kills))
note "$(cat "$tmp/try.out")"
for program in truth cgo spawn; do
	try "known counts: $program" counted "$program" "$ORACLE_GO"
	note "$(cat "$tmp/try.out")"
done
ktap_end
