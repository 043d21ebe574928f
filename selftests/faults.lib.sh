# Faults during a recording, each with what was seen: read after lib.sh, record.lib.sh and files.lib.sh.
# The scripts faults*.sh of selftests/check use it; `make faults` prints their
# rows as a table (selftests/faults).
#
#     row "NAME" MODE STATUS 'PATTERN' COMMAND...
#
# starts a target that verifies and counts its own work, records it in this MODE (see record_as()), and
# runs the command, which provokes the fault. Then the recorder is ended, unless it has ended. Required
# are: the target goes on, and all its answers are right; no probe is left; each file with its final name
# is valid; the recorder's memory is bounded; its exit status is STATUS, and one line matches PATTERN, unless
# that is empty: a killed recorder cannot print one.

soak=build/selftests/inline
MEMORY_MAX=$((400 * 1024)) # KiB; the recorder of a small program needs 10 % of that
read -ra parts <<<"${FAULTS-}" # only rows whose MODE: NAME contains one of these words, if there are any
# Set for a row:
ENDED=			# exit status of a target that the fault ends
PARTIAL=		# not empty: files may be incomplete, if their names say so
RECORDER_OPTIONS=
TARGET_ARGUMENTS=
START=			# a command that starts the recorder; record_as() without it
RECORDERS=()		# PIDs of the recorder, and of the children that it had

# --- the target

answers() { od -An -td8 "$tmp/counter" | tr -d ' '; }
has_more_than() { [ "$(answers)" -gt "$1" ]; } # NUMBER
goes_on() { wait_until 20 has_more_than $(($(answers) + 20)); }

start_answers() # [ARGUMENT...]: it works until the end of the row
{
	mkdir -p "$tmp/bin"
	# A name of its own, by which recorders find it, and a file that may be replaced
	PROGRAM=$tmp/bin/answers$ktap_count
	cp "build/targets/$ORACLE_GO/answers" "$PROGRAM" &&
		start_target "answers$ktap_count" "$PWD/$tmp/bin" -duration 600s -counter "$tmp/counter" "$@" &&
		tell_target start && wait_until 20 has_more_than 10
}

# It ends by SIGTERM, after it has verified its last answer.
answers_are_right()
{
	local n

	kill -TERM "$TARGET_PID" && expect_target done && n=$(target_result | jq -e .answers) &&
		[ "$n" = "$(answers)" ] && stop_target
}

# --- the recorder

record_as() # MODE [OPTION...]: starts it, and waits until its probes are attached
{
	local mode=$1
	shift

	DIR=$tmp/files.$ktap_count
	mkdir -p "$DIR"
	case $mode in
	record) set -- record -p "$TARGET_PID" -o "$DIR/x.trace" "$@" ;;
	inline) set -- record -p "$TARGET_PID" -o "$DIR/x.trace" --probes=inline "$@" ;;
	rotate) set -- record --rotate 1s -p "$TARGET_PID" -o "$DIR" "$@" ;;
	sample) set -- record --sample 300ms/700ms -p "$TARGET_PID" -o "$DIR" "$@" ;;
	flight) set -- flight -p "$TARGET_PID" --window 5s --tail 100ms -o "$DIR" "$@" ;;
	flights) set -- flight --exe "$(basename "$PROGRAM")" --window 5s --tail 100ms -o "$DIR" "$@" ;;
	rotates) set -- record --rotate 1s --exe "$(basename "$PROGRAM")" -o "$DIR" "$@" ;;
	esac
	start_background "${with[@]}" $GOTRACE "$@"
	wait_until 30 is_recording || { cat "$tmp/background.out"; return 1; }
	read -ra RECORDERS <<<"$BACKGROUND_PID $(children_of "$BACKGROUND_PID")"
}
with=() # a command that runs it

is_recording() { messages '^gotrace-bpf: recording' || is_gone "$BACKGROUND_PID"; }
recorded_twice() { [ "$(messages '^gotrace-bpf: recording')" -ge 2 ]; }
children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null; } # PID

# The process that has the probes: the recorder, or the child of one that records several processes
recorder_of_target() { echo "${RECORDERS[-1]}"; }

note_memory() # sets memory to the most that the recorders have used so far, in KiB: the sum of their maxima
{
	local pid sum=0

	for pid in "${RECORDERS[@]}"; do
		sum=$((sum + $(awk '/^VmHWM:/ { n = $2 } END { print n + 0 }' "/proc/$pid/status" 2>/dev/null || echo 0)))
	done
	[ $sum -le "$memory" ] || memory=$sum
}

# The flight recorder writes files only on request.
snapshot_if_it_flies()
{
	[[ $mode != flight* ]] || is_gone "$(recorder_of_target)" || target_is_gone ||
		{ $GOTRACE snapshot -p "$TARGET_PID" && wait_until 30 listed 1; }
}

end_recorder() # sets status
{
	note_memory
	is_gone "$BACKGROUND_PID" || kill -INT "$BACKGROUND_PID"
	wait_until 60 is_gone "$BACKGROUND_PID" || return 1
	wait "$BACKGROUND_PID"
	status=$?
}

# --- what is left

# Kernel objects that no process has open. Prints their IDs.
orphans()
{
	local kind

	for kind in prog link; do
		comm -23 <(bpftool -j $kind list | jq -r '.[].id' | sort) \
			<(cat /proc/[0-9]*/fdinfo/* 2>/dev/null | sed -n "s/^${kind}_id:[[:space:]]*//p" | sort) |
			sed "s/^/$kind /"
	done | sort
}

# They are freed some time after their last user has ended, and other recorders may end meanwhile: those
# that were not there before the row, and stay, are of its recorder.
no_orphan_stays()
{
	orphans | comm -13 "$tmp/orphans" - >"$tmp/orphans.new"
	wait_until 20 none_of_them
}
none_of_them() { [ -z "$(comm -12 "$tmp/orphans.new" <(orphans))" ]; }

no_uprobe_of_target() # of links, and of tracefs
{
	! bpftool -j link list | jq -e --argjson pid "$TARGET_PID" '.[] | select(.pid? == $pid)' &&
		! grep -F "$PROGRAM" /sys/kernel/tracing/uprobe_events
}

code_is_clean() # in memory it is that of the file
{
	if [ "$mode" = inline ]; then
		$soak "$TARGET_PID" 0
	else
		text_is_clean "$TARGET_PID"
	fi
}

no_probe_is_left() # of a target that goes on
{
	no_orphan_stays || return 1
	[ -n "$ENDED" ] || { wait_until 20 no_uprobe_of_target && wait_until 20 code_is_clean; }
}

# --- the row

# How many files there are, all of which are complete, valid, and listed in the index, if there is one
seen_files()
{
	local files partial

	files=$(find "$DIR" -name '*.trace' | sort)
	partial=$(find "$DIR" -name '*.partial*' | wc -l)
	[ "$partial" -eq 0 ] || [ -n "$PARTIAL" ] || { seen="$partial incomplete"; return 1; }
	[ ! -e "$DIR/index.tsv" ] || [ "$(traces | sort)" = "$files" ] || { seen="differ from the index"; return 1; }
	seen=invalid
	if [ -n "$files" ]; then
		xargs build/gotrace check <<<"$files" && xargs build/reference/validate -strict <<<"$files" || return 1
	fi
	seen="$(wc -w <<<"$files") valid"
	[ "$partial" -eq 0 ] || seen+=", $partial .partial"
}

seen_target()
{
	local wanted=${ENDED:-0} got

	seen="does not go on"
	if [ -z "$ENDED" ]; then
		goes_on || return 1
		answers_are_right
		got=$?
	else
		wait_until 30 target_is_gone || return 1
		wait "$TARGET_PID"
		got=$?
	fi
	seen="$(answers) answers, status $got"
	[ "$got" -eq "$wanted" ] || { cat "$tmp/target.err"; return 1; }
}

seen_probes()
{
	no_orphan_stays || { seen="left: $(comm -12 "$tmp/orphans.new" <(orphans) | paste -sd,)"; return 1; }
	[ -n "$ENDED" ] || {
		seen="uprobes are left"
		wait_until 20 no_uprobe_of_target || return 1
		seen="code differs"
		wait_until 20 code_is_clean || return 1
	}
	seen=none
}

seen_memory()
{
	seen="$(((memory + 1023) / 1024)) MiB"
	[ "$memory" -gt 0 ] || seen="ended at once"
	[ "$memory" -le "$MEMORY_MAX" ]
}

seen_message() # STATUS PATTERN
{
	local text=none

	seen="no line matches $2"
	cat "$tmp/background.out"
	[ -z "$2" ] || text=$(grep -E -m 1 -- "$2" "$tmp/background.out") || return 1
	seen=$(sed "s,$PWD/,,g; s,$tmp/,,g; s/^gotrace-bpf: //" <<<"$text")
	[ "$status" -eq "$1" ] || { seen="exit status $status: $seen"; return 1; }
}

# All are examined, so that the row is complete.
see() # COLUMN COMMAND...: adds a column to the row
{
	local seen='' column=$1
	shift

	"$@" >>"$tmp/row.out" 2>&1 || { failed=1; seen="WRONG: $seen"; echo "$column: $seen" >>"$tmp/row.out"; }
	columns+=" | ${seen//|/ }"
}

happens() # STATUS PATTERN COMMAND...: the fault, and everything that is required after it
{
	local want=$1 pattern=$2 status=none memory=0
	shift 2

	orphans >"$tmp/orphans"
	start_answers ${TARGET_ARGUMENTS-} && ${START:-record_as "$mode" ${RECORDER_OPTIONS-}} || return 1
	"$@" || { echo "the fault could not be provoked: $*"; failed=1; }
	snapshot_if_it_flies || { echo "no snapshot was written"; failed=1; }
	end_recorder || { echo "the recorder does not end"; failed=1; }
	see probes seen_probes
	see target seen_target
	see files seen_files
	see memory seen_memory
	see message seen_message "$want" "$pattern"
}

# Prints a comment "row | NAME | MODE | probes | target | files | memory | message | result", and the result.
row() # NAME MODE STATUS PATTERN COMMAND...
{
	local name=$1 mode=$2 columns='' failed=0 pid
	shift 2

	wanted "$mode: $name" || return 0
	: >"$tmp/row.out"
	happens "$@" >"$tmp/row.first" 2>&1 </dev/null || failed=1
	note "row | $name | $mode$columns | $([ $failed = 0 ] && echo ok || echo FAILED)"
	if [ $failed = 0 ]; then
		ok "$mode: $name"
	else
		note "$(cat "$tmp/row.first" "$tmp/row.out" | tail -n 30)"
		not_ok "$mode: $name"
	fi
	for pid in "${background[@]}"; do
		is_child "$pid" && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	background=()
}
