#!/bin/bash
# Traces of Go 1.5 to 1.21 from the toolchains' own tests. Their names give the expected result:
# NAME_good, or NAME_unordered, whose timestamps are inconsistent. The output of `gotrace events` is
# compared with golang.org/x/exp/trace, byte for byte, from 1.11 on; for older traces, which that
# package does not read, with the events that `go tool trace` of Go 1.22 prints, in order for each
# P, by the rules of the conversion.
# tier: all
# parallel
# timeout: 900
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

OLD_GO=go1.22.12 # the last release that reads all of them, with 25 of them

result_is_its_name() # TRACE
{
	local status

	timeout 60 $READER check "$1" >/dev/null 2>"$tmp/reason"
	status=$?
	echo "exit $status, reason: $(cat "$tmp/reason")"
	case $1 in
	*_good) [ $status -eq 0 ] && [ ! -s "$tmp/reason" ] ;;
	*_unordered)
		[ $status -eq 1 ] && [ "$(wc -l <"$tmp/reason")" -eq 1 ] &&
			grep -q 'byte [0-9]* ([A-Za-z]*): time stamps out of order' "$tmp/reason" ;;
	*) return 1 ;;
	esac
}

count_is() # NUMBER FILE...: so many files exist
{
	local number=$1
	shift

	[ $# -eq "$number" ] || { echo "found $#: $*"; return 1; }
}

same_as_today() # TRACE
{
	$REFERENCE/events "$1" | $REFERENCE/events -sort >"$tmp/theirs" || return 1
	timeout 60 $READER events --canonical "$1" | $REFERENCE/events -sort >"$tmp/ours" || return 1
	[ -s "$tmp/ours" ] && same_text "$tmp/ours" "$tmp/theirs"
}

# Go 1.22's list of a trace's events ("TIME NAME p=P g=G off=BYTE ARG=VALUE..."), as P, G and
# details of the events that they are converted to; in order for each P. For traces of Go 1.5 any
# program file works: only the stacks need it.
events_of_old_go() # TRACE
{
	local program=()

	[[ $1 != *_1_5_* ]] || program=("$REFERENCE/corpus")
	go_trace "$OLD_GO" -d=1 "${program[@]}" "$1" 2>/dev/null | awk -v OFS='\t' '
		function say(details) { print p, g ? g : -1, details }
		function go(id, change, why) { say("goroutine=" id " " change " reason=\"" why "\"") }
		function proc(change) { say("proc=" p " " change " reason=\"\"") }
		function range(name, scope) { say("name=\"" name "\" scope=" scope) }
		function metric(name, value) { say("name=\"" name "\" value=" value) }
		BEGIN {
			why["GoSleep"] = "sleep"; why["GoBlock"] = ""; why["GoBlockSend"] = "chan send"
			why["GoBlockRecv"] = "chan receive"; why["GoBlockSelect"] = "select"
			why["GoBlockSync"] = "sync"; why["GoBlockCond"] = "sync.(*Cond).Wait"
			why["GoBlockNet"] = "network"; why["GoStop"] = "forever"
			why["GoBlockGC"] = "GC mark assist wait for work"
			stw[0] = "stop-the-world (GC mark termination)"
			stw[1] = "stop-the-world (GC sweep termination)"
		}
		{
			p = substr($3, 3) + 0; g = substr($4, 3) + 0
			split("", arg)
			for (i = 6; i <= NF; i++)
				arg[substr($i, 1, index($i, "=") - 1)] = substr($i, index($i, "=") + 1)
		}
		$2 in why { go(g, "Running->Waiting", why[$2]) }
		$2 == "GoSched" { go(g, "Running->Runnable", "runtime.Gosched") }
		$2 == "GoPreempt" { go(g, "Running->Runnable", "preempted") }
		$2 == "GoEnd" { go(g, "Running->NotExist") }
		$2 == "GoUnblock" { go(arg["g"], "Waiting->Runnable") }
		$2 == "GoCreate" && begun { go(arg["g"], "NotExist->Runnable") }
		$2 == "GoWaiting" { go(g, "Undetermined->Waiting") }
		$2 == "GoInSyscall" { go(g, "Undetermined->Syscall") }
		/^[0-9]+ GoStart / { go(g, (begun ? "Runnable" : "Undetermined") "->Running") }
		$2 == "GoStartLabel" {
			go(g, "Runnable->Running")
			sub(".* label=", "")
			say("label=\"" $0 "\" resource=Goroutine(" g ")")
		}
		$2 == "GoSysCall" { go(g, "Running->Syscall") }
		$2 == "GoSysExit" { go(g, "Syscall->Runnable") }
		$2 == "ProcStart" { proc(seen[p]++ ? "Idle->Running" : "Undetermined->Running") }
		$2 == "ProcStop" { proc(seen[p]++ ? "Running->Idle" : "Undetermined->Idle") }
		$2 == "Gomaxprocs" && begun++ { metric("/sched/gomaxprocs:threads", arg["procs"]) }
		$2 == "HeapAlloc" { metric("/memory/classes/heap/objects:bytes", arg["mem"]) }
		$2 == "HeapGoal" { metric("/gc/heap/goal:bytes", arg["mem"]) }
		$2 ~ /^GC(Start|Done)$/ { range("GC concurrent mark phase", "Global") }
		$2 ~ /^GCMarkAssist/ { range("GC mark assist", "Goroutine(" (g ? g : -1) ")") }
		$2 == "GCSweepStart" { range("GC incremental sweep", "Proc(" p ")") }
		$2 == "GCSweepDone" {
			range("GC incremental sweep", "Proc(" p ") bytes swept=" arg["swept"] \
				" bytes reclaimed=" arg["reclaimed"])
		}
		$2 == "STWStart" { kind = stw[arg["kindid"]] }
		$2 ~ /^STW/ { range(kind, "Goroutine(-1)") }' | sort -s -k1,1n
}

# Without what such a list lacks: goroutines without a reported state, ends of system calls that did
# not block, stacks.
events_of_ours() # TRACE
{
	timeout 60 $READER events --canonical "$1" | awk -F'\t' -v OFS='\t' '
		$2 == "Sync" || $6 ~ /Undetermined->Runnable|Syscall->Running/ { next }
		{ sub(/ transition_stack=.*/, "", $6); print $4, $5, $6 }' | sort -s -k1,1n
}

same_as_then() # TRACE
{
	events_of_old_go "$1" >"$tmp/theirs" && events_of_ours "$1" >"$tmp/ours" || return 1
	[ "$(wc -l <"$tmp/ours")" -ge 30 ] && same_text "$tmp/ours" "$tmp/theirs"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" $OLD_GO; then
	try "25 traces of $OLD_GO" count_is 25 "$CORPUS/$OLD_GO"/v1/*
	try "12 traces of $ORACLE_GO" count_is 12 "$CORPUS/$ORACLE_GO"/v1/*
	for trace in "$CORPUS"/{$OLD_GO,$ORACLE_GO}/v1/*; do
		try "${trace#"$CORPUS"/}" result_is_its_name "$trace"
	done
	for trace in "$CORPUS/$OLD_GO"/v1/*_good; do
		case $trace in
		*_1_[5-9]_* | *_1_10_*) try "$(basename "$trace"): matches Go 1.22" same_as_then "$trace" ;;
		*) try "$(basename "$trace"): matches x/exp/trace" same_as_today "$trace" ;;
		esac
	done
fi
ktap_end
