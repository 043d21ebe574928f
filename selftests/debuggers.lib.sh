# Debuggers of the recorded program: gdb, of the distribution, and Delve, built from its Go module. Read after
# lib.sh and programs.lib.sh. A debugger attaches to the target, lets it run, and has a breakpoint in a
# function that is called all the time and that no recorder probes.
#
#     start_gdb && ... && end_gdb
#     build_delve && start_delve && ... && end_delve

DEBUGGED=main.worker # of the target answers, which starts one goroutine per answer
DEBUGGER_PID=

debugger_says() { grep -q -- "$1" "$tmp/debugger.out"; } # PATTERN

gdb_runs() # COMMAND...: of its machine interface
{
	printf '%s\n' "$@" >&"$GDB_IN"
}

# Its breakpoint is a dprintf: each hit stops the target, prints a line, and continues it.
start_gdb()
{
	rm -f "$tmp/gdb.in"
	mkfifo "$tmp/gdb.in" && exec {GDB_IN}<>"$tmp/gdb.in" && : >"$tmp/debugger.out" || return 1
	gdb -nx -q -i=mi3 -iex 'set debuginfod enabled off' <"$tmp/gdb.in" >"$tmp/debugger.out" 2>&1 {GDB_IN}<&- &
	DEBUGGER_PID=$!
	background+=("$DEBUGGER_PID")
	gdb_runs "-gdb-set mi-async on" "-target-attach $TARGET_PID" "-dprintf-insert $DEBUGGED \"hit\\n\"" \
		"-exec-continue --all"
	wait_until 60 debugger_says '~"hit'
}

end_gdb() # removes the breakpoint, and detaches
{
	gdb_runs "-exec-interrupt --all" && wait_until 30 debugger_says 'signal-name="\(SIGINT\|0\)"' &&
		gdb_runs "-break-delete" "-target-detach" "-gdb-exit" && exec {GDB_IN}>&- &&
		wait_until 30 is_gone "$DEBUGGER_PID"
}

build_delve() # sets DELVE
{
	local module=selftests/company/delve key

	key=$(cat $module/go.mod $module/go.sum | sha256sum)
	DELVE=$PROGRAM_CACHE/delve-${key:0:16}
	[ ! -x "$DELVE" ] || return 0
	mkdir -p "$PROGRAM_CACHE" && (cd $module && CGO_ENABLED=0 GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" build -mod=readonly \
		-buildvcs=false -o "$DELVE.new" github.com/go-delve/delve/cmd/dlv) && mv "$DELVE.new" "$DELVE"
}

# Its breakpoints are those that it always has: in functions of the runtime that end a program.
start_delve()
{
	: >"$tmp/debugger.out" # here, not in the child, so that no old line is found
	"$DELVE" attach "$TARGET_PID" --headless --continue --accept-multiclient --api-version=2 \
		--listen="unix:$PWD/$tmp/delve" --check-go-version=false >"$tmp/debugger.out" 2>&1 </dev/null &
	DEBUGGER_PID=$!
	background+=("$DEBUGGER_PID")
	wait_until 60 debugger_says 'server listening' && wait_until 30 is_traced
}

is_traced() # by a thread of the debugger
{
	[ -e "/proc/$DEBUGGER_PID/task/$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$TARGET_PID/status")" ]
}

end_delve() { kill -INT "$DEBUGGER_PID" && wait_until 30 is_gone "$DEBUGGER_PID"; } # detaches, too
