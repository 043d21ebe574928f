#!/bin/bash
# What can't be done is said in one clear line on stderr, with exit 1 (failed) or 2 (usage); nothing
# half-written stays behind, and the target is untouched.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# STATUS PATTERN COMMAND...: one line on stderr that has PATTERN (extended regexp)
refused()
{
	local want=$1 pattern=$2 status
	shift 2

	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qE "$pattern" "$tmp/err" &&
		! ls "$tmp"/x.trace* >/dev/null 2>&1
}

full_disk()
{
	timeout 30 $GOTRACE record -p "$TARGET_PID" -d 500ms -o /dev/full >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && [ "$(grep -c . "$tmp/err")" -le 2 ] && grep -q 'No space left' "$tmp/err"
}

# A program of another architecture: the ELF header says so, and the tool asks no more.
foreign_program()
{
	cp build/targets/"$JUDGE_GO"/tiny "$tmp/foreign" && printf '\xb7' |
		dd of="$tmp/foreign" bs=1 seek=18 conv=notrunc status=none
}

old_program()
{
	sed 's/go1\.26\.8/go1.15.8/g' build/targets/"$JUDGE_GO"/tiny >"$tmp/old"
}

unknown_program()
{
	sed 's/go1\.26\.8/go1.99.8/g' build/targets/"$JUDGE_GO"/tiny >"$tmp/unknown"
}

# Exits or execs at about the time when the probes are set: whatever moment it meets, there is a valid
# trace and exit 0, or one line and exit 1.
while_attaching() # ARGUMENTS of tiny
{
	local pid status

	for delay in 0 5 20 50 80 120 160 220; do
		rm -f "$tmp"/tiny.trace*
		build/targets/"$JUDGE_GO"/tiny -duration ${delay}ms "$@" >/dev/null </dev/null &
		pid=$!
		timeout 30 $GOTRACE record -p $pid -d 300ms -o "$tmp/tiny.trace" 2>"$tmp/err"
		status=$?
		wait $pid || { echo "the target failed"; return 1; }
		case $status in
		0) check_trace "$tmp/tiny.trace" || return 1 ;;
		1) [ "$(grep -c '^gotrace-bpf: [^r]' "$tmp/err")" -eq 1 ] || { cat "$tmp/err"; return 1; } ;;
		*) cat "$tmp/err"; return 1 ;;
		esac
	done
}

ktap_start
try "no such PID" refused 1 'process 999999999|no process' $GOTRACE record -p 999999999 -o "$tmp/x.trace"
sleep 60 & not_go=$!
background+=("$not_go")
try "not a Go program" refused 1 'not a Go program' $GOTRACE record -p "$not_go" -o "$tmp/x.trace"
try "a kernel thread" refused 1 '' $GOTRACE record -p 2 -o "$tmp/x.trace"
try "no process given" refused 2 '' $GOTRACE record -o "$tmp/x.trace"
try "an unknown option" refused 2 '' $GOTRACE record --frobnicate
try "an unknown verb" refused 2 '' $GOTRACE frobnicate
try "a bad duration" refused 2 'duration|-d' $GOTRACE record -p 1 -d 5parsecs -o "$tmp/x.trace"
try "a bad format version" refused 2 '1\.21|format' $GOTRACE record -p 1 --format-version 1.21
try "an unknown event set" refused 2 'tea' $GOTRACE record -p 1 --events tea
foreign_program && try "another architecture" refused 1 'arm64' $GOTRACE probes --exe "$tmp/foreign"
old_program && try "a Go too old" refused 1 'go1\.15' $GOTRACE probes --exe "$tmp/old"
unknown_program && try "a Go not known yet" refused 1 'go1\.99' $GOTRACE probes --exe "$tmp/unknown"
head -c 5000 build/targets/"$JUDGE_GO"/tiny >"$tmp/cut"
try "a truncated program" refused 1 '' $GOTRACE probes --exe "$tmp/cut"

start_target parked "$JUDGE_GO" -duration 100ms
try "a missing directory" refused 1 'No such file' $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp/no/where.trace"
try "a directory as the file" refused 1 'directory' $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp"
try "a full disk" full_disk
install -m 755 $GOTRACE "$tmp/gotrace-bpf" && chmod 755 "$tmp" build build/tmp
try "no privilege" refused 1 'CAP_BPF|permission|root' \
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/gotrace-bpf" record -p "$TARGET_PID" -d 1s -o /tmp/x.trace
try "a broken raw file" refused 1 '' $GOTRACE sequence build/targets/"$JUDGE_GO"/tiny -o "$tmp/x.trace"
try "the target has no breakpoint left" text_is_clean "$TARGET_PID"
tell_target start
try "the target goes on" expect_target done
try "the target ends well" stop_target
try "a target that exits while we attach" while_attaching
try "a target that execs while we attach" while_attaching -exec /bin/true
ktap_end
