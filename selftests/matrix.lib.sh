# The matrix of Go releases and build modes; read after lib.sh. A cell is a program of one release
# and mode, recorded twice for a second or two:
#
#   the known-count target: both readers accept the trace, its goroutines have the names of the
#	`go` statements in the right numbers, and every count is exact;
#   the self-tracing target: at least 99 % of its goroutines equal those in its own trace
#	(for releases to 1.21 as far as the old format contains the data).
#
# A stripped position-independent program must also give the same trace as its unstripped variant.

. selftests/record.lib.sh
. selftests/programs.lib.sh

# shellcheck disable=SC2086 # words
ALL_VERSIONS=$(sorted_gos $LAST_GOS 1.24.9)
ALL_KINDS="plain stripped pie pie-stripped trimpath noopt race external pgo debugfile"
SELF_DURATION=${SELF_DURATION:-1500ms}

declare -A cell_result=() # by "VERSION KIND": "ok 100.0%", or one word for the failure

# Prints why a recording failed, and ends the processes that are left.
not_recorded()
{
	local reason

	CELL=recording
	reason=$(sed -n 's/^gotrace-bpf: //p' "$tmp/background.out" | grep -v '^recording' | tail -n 1)
	if [ -n "$reason" ] && ! grep -q '^gotrace-bpf: recording' "$tmp/background.out"; then
		CELL=refused
		echo "$reason"
	fi
	target_is_gone || stop_target
	! is_child "$BACKGROUND_PID" || kill -KILL "$BACKGROUND_PID"
}

# The names of the goroutines: those of the go statements as often as the target started them, and
# no other names of package main; the rest are goroutines of the runtime.
names_are_right()
{
	build/gotrace goroutines --json "$1" >"$tmp/goroutines.json" || return 1
	jq -en --slurpfile t <(sed 's/^done //' "$2") --slurpfile g "$tmp/goroutines.json" '
		([$t[0].expect[] | select(.event == "create") | {(.functions[0]): .count}] | add) as $want |
		([$g[0].groups[] | {(.name): .count}] | add) as $have |
		([$t[0].expect[].functions // [] | .[]] + ["main.main", "main.pipeWriter"]) as $known |
		[$have | to_entries[] | select(.key | startswith("main."))
			| select([.key] - $known != []) | "no go statement starts \(.key)"] +
		[$have | to_entries[] | select(.key | test("^(main|runtime|os/signal)\\.") | not)
			| "\(.value) goroutines named \(.key)"] +
		[$want | to_entries[] | select($have[.key] != .value)
			| "\($have[.key] // 0) goroutines \(.key), \(.value) expected"] |
		if . == [] then true else (.[] | halt_error(1)) end'
}

# Transitions and their stacks in goroutines whose course does not depend on the scheduler (unlike
# which of two goroutines first reaches a channel), and where goroutines were created: the same in
# two builds of a source.
deeds_of() # TRACE
{
	build/gotrace events --json --stacks "$1" | grep -E '"func":"main\.(sleeper|yielder|syscaller|blockingReader|coroutineUser|pull|goexitChild|gather)' |
	sed -E 's/"(time|m|p|g|goroutine|pc)":[0-9]+,?//g; s/,\}/}/g' | LC_ALL=C sort -u |
	jq -r 'select(.reason != "preempted" and .kind == "StateTransition" and .from != .to)
		| select([.stack[].func] | any(startswith("sync.") or startswith("runtime.gcAssist")) | not)
		| [.from, .to, .reason // ""] + [.stack[] | "\(.func) \(.file):\(.line)"] | join("; ")' |
	LC_ALL=C sort -u
}

# FILE FILE: compares two lists of deeds_of(). The scheduler decides which goroutine waits for
# which, so one run may have deeds that the other lacks. But for each kind of deed (transition,
# reason, innermost frame) in both, one list has all stacks of the other; no stack ends in a
# function in which none of the other list does; and they share at least 15 deeds.
same_deeds()
{
	wc -l "$@"
	awk -F '; ' '
		{
			side = NR == FNR ? 1 : 2
			outermost = $NF
			sub(/ .*/, "", outermost)
			kind[$0] = $1 "; " $2 "; " $3 "; " $4
			has[side, $0] = has_kind[side, kind[$0]] = has_end[side, outermost] = 1
			end[$0] = outermost
		}
		END {
			for (deed in kind) {
				if (has[1, deed] && has[2, deed])
					shared++
				else
					alone[has[1, deed] ? 1 : 2, kind[deed]] = deed
				if (!has_end[1, end[deed]] || !has_end[2, end[deed]])
					wrong[deed] = "ends where none of the other list does"
			}
			for (deed in kind)
				if (has_kind[1, kind[deed]] && has_kind[2, kind[deed]] &&
				    alone[1, kind[deed]] && alone[2, kind[deed]])
					wrong[deed] = "differs"
			for (deed in wrong) {
				print wrong[deed] ": " deed
				failures++
			}
			print shared + 0 " deeds in both"
			exit failures || shared < 15
		}' "$1" "$2"
}

# VERSION KIND: sets CELL to "ok N%" or a word, with the explanation in $tmp/cell.why
check_cell()
{
	local version=$1 kind=$2 own=$tmp/own.trace status percent

	CELL=build
	build_programs "$version" "$kind" truth selftrace || return 1
	record_target truth "$PROGRAMS" "" || { not_recorded; return 1; }
	CELL=invalid
	build/gotrace check "$RECORDED" && build/reference/validate "$RECORDED" || return 1
	CELL=names
	names_are_right "$RECORDED" "$tmp/truth.done" || return 1
	CELL=counts
	build/reference/truth "$RECORDED" "$tmp/truth.done" >"$tmp/counts" || {
		grep '^not ok' "$tmp/counts"
		return 1
	}
	CELL=twin
	case $kind in
	pie) deeds_of "$RECORDED" >"$tmp/pie-$version.deeds" ;;
	pie-stripped)
		deeds_of "$RECORDED" >"$tmp/deeds"
		same_deeds "$tmp/pie-$version.deeds" "$tmp/deeds" || return 1
		;;
	esac

	record_target selftrace "$PROGRAMS" "$EVERY_EVENT" -trace "$own" -duration "$SELF_DURATION" || {
		not_recorded
		return 1
	}
	CELL=compare
	build/reference/compare -min-goroutines 200 -min-transitions 5000 -reasons '' -identical 99 \
		-p 99 -waker 99 -procs 99 -frames 99 -stacks 99 -time-p99 1h \
		-edge "$(stretched 60ms)" -blur "$(stretched 5ms)" "$own" "$RECORDED" >"$tmp/compared"
	status=$?
	percent=$(sed -n 's/^goroutines .*(\([0-9]*\.[0-9]\)[0-9]* %).*/\1%/p' "$tmp/compared")
	if [ $status -ne 0 ]; then
		CELL="compare ${percent:-?}"
		grep '^FAIL' "$tmp/compared" || cat "$tmp/compared"
		return 1
	fi
	CELL="ok $percent"
}

run_cell() # VERSION KIND
{
	local started=$SECONDS result

	rm -f "$tmp"/{own,truth,selftrace}.* "$tmp/counts" "$tmp/compared"
	if check_cell "$1" "$2" >"$tmp/cell.why" 2>&1; then
		result=$CELL
		ok "$1 $2: $result ($((SECONDS - started)) s)"
	else
		result=${CELL/ok*/?}
		tail -n 12 "$tmp/cell.why" | sed 's/^/#   /'
		not_ok "$1 $2: $result ($((SECONDS - started)) s)"
	fi
	cell_result["$1 $2"]=$result
}

# VERSIONS KINDS: prints the results, one row per release
print_table()
{
	local version kind line

	line=$(printf '%-8s' release)
	for kind in $2; do
		line+=$(printf ' %-13s' "$kind")
	done
	note "$line"
	for version in $1; do
		line=$(printf '%-8s' "$version")
		for kind in $2; do
			line+=$(printf ' %-13s' "${cell_result["$version $kind"]--}")
		done
		note "$line"
	done
}
