# Several targets at the same time, as files of the names that a test chooses. Read after lib.sh and files.lib.sh.

LAUNCHED=0
declare -A INPUT OUT

# FILE [ARGUMENT...]: runs it as a target. Sets PID, and its output OUT[PID].
launch()
{
	local input=$tmp/in.$((++LAUNCHED)) fd
	mkfifo "$input" && exec {fd}<>"$input" || return 1
	"$@" <"$input" >"$tmp/out.$LAUNCHED" 2>"$tmp/target.err" {fd}<&- &
	PID=$!
	background+=("$PID")
	INPUT[$PID]=$fd OUT[$PID]=$tmp/out.$LAUNCHED
	wait_until 30 grep -q '^ready' "${OUT[$PID]}"
}

send() { echo "$2" >&"${INPUT[$1]}"; } # PID COMMAND
is_done() { grep -q '^done' "${OUT[$1]}"; }
leave() { send "$1" exit && wait "$1"; } # PID
play() { send "$1" start && wait_until 60 is_done "$1"; } # PID
result_of() { sed -n 's/^done //p' "${OUT[$1]}"; } # PID: what it has counted

program() # NAME [TARGET]: a Go program of that file name, pingpong or another one
{
	mkdir -p "$tmp/bin" && cp "build/targets/$ORACLE_GO/${2-pingpong}" "$tmp/bin/$1"
}

is_recorded() { wait_until 30 messages "^gotrace-bpf: recording process $1 to"; } # PID
children() { cat "/proc/$1/task/$1/children"; } # PID
none_runs() # PID...
{
	for pid; do
		is_gone "$pid" || return 1
	done
}
