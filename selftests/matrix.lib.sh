# The matrix of Go releases and ways to build; read after lib.sh. A cell is a program of that release
# and kind, recorded twice for a second or two:
#
#   the known-truth target: our trace is valid for both readers, its goroutines have the names of the
#	`go` statements in the right numbers, and every count is exact;
#   the self-tracing target: at least 99 % of its goroutines are in our trace what they are in its own
#	(of releases to 1.21 as far as the old format tells it);
#
# and a stripped position-independent program must give the trace of its unstripped twin.

. selftests/record.lib.sh
. selftests/programs.lib.sh

ALL_VERSIONS="1.19.13 1.20.14 1.21.13 1.22.12 1.23.12 1.24.9 1.24.13 1.25.14 1.26.11 1.27.4"
ALL_KINDS="plain stripped pie pie-stripped trimpath noopt race external pgo debugfile"
SELF_DURATION=${SELF_DURATION:-1500ms}

declare -A cell_result=() # by "VERSION KIND": "ok 100.0%", or one word of what is wrong

# What a failed recording is called, and whatever is left of it is ended.
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
	! kill -0 "$BACKGROUND_PID" 2>/dev/null || kill -KILL "$BACKGROUND_PID"
}

# The goroutines' names: those of the go statements as often as the target says it started them, and no
# other names of package main; the rest are the runtime's own.
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

# What happened where in goroutines whose way is laid down, whatever the scheduler does (who of two comes
# first to a channel is not), and where goroutines were created: the same in two builds of a source.
deeds_of() # TRACE
{
	build/gotrace events --json --stacks "$1" | grep -E '"func":"main\.(sleeper|yielder|syscaller|blockingReader|coroutineUser|pull|goexitChild|gather)' |
	sed -E 's/"(time|m|p|g|goroutine|pc)":[0-9]+,?//g; s/,\}/}/g' | LC_ALL=C sort -u |
	jq -r 'select(.reason != "preempted" and .kind == "StateTransition" and .from != .to)
		| select([.stack[].func] | any(startswith("sync.") or startswith("runtime.gcAssist")) | not)
		| [.from, .to, .reason // ""] + [.stack[] | "\(.func) \(.file):\(.line)"] | join("; ")' |
	LC_ALL=C sort -u
}

# FILE FILE: two lists of deeds_of() agree. Who waits for whom is the scheduler's choice, so one run may
# have deeds that the other one has not. But of each kind of deed (transition, reason, innermost frame) that both have, one
# list has all stacks of the other; no stack ends in a function in which none of the other list
# does; and they share at least 15 deeds.
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

# VERSION KIND: sets CELL to "ok N%" or a word, with its explanation in $tmp/cell.why
judge_cell()
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

	record_target selftrace "$PROGRAMS" "" -trace "$own" -duration "$SELF_DURATION" || {
		not_recorded
		return 1
	}
	# shellcheck disable=SC2046 # words
	CELL=compare
	build/reference/compare -min-goroutines 200 -min-transitions 5000 -reasons '' -identical 99 \
		-p 99 -waker 99 -procs 99 -frames 99 -stacks 99 -time-p99 1h $(tolerance) "$own" "$RECORDED" >"$tmp/compared"
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
	if judge_cell "$1" "$2" >"$tmp/cell.why" 2>&1; then
		result=$CELL
		ok "$1 $2: $result ($((SECONDS - started)) s)"
	else
		result=${CELL/ok*/?}
		tail -n 12 "$tmp/cell.why" | sed 's/^/#   /'
		not_ok "$1 $2: $result ($((SECONDS - started)) s)"
	fi
	cell_result["$1 $2"]=$result
}

# VERSIONS KINDS: what was found, a row a release
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
