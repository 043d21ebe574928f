# Output on a pseudo terminal; read after lib.sh.

# COLUMNS ROWS COMMAND: what it prints to a terminal of that size, without colours. Messages, and the
# progress that a slow machine shows, go to a file.
on_terminal()
{
	local columns=$1 rows=$2
	shift 2

	printf 'stty cols %d rows %d; exec' "$columns" "$rows" >"$tmp/command"
	{ printf ' %q' "$@"; printf ' 2>%q' "$tmp/messages"; } >>"$tmp/command"
	env -u COLUMNS -u LINES -u NO_COLOR script -qec "sh $tmp/command" "$tmp/typed" >/dev/null </dev/null || return 1
	sed '1{/^Script started/d}; ${/^Script done/d}; s/\r$//' "$tmp/typed" >"$tmp/raw.screen"
	sed 's/\x1b\[[0-9;]*m//g' "$tmp/raw.screen" >"$tmp/screen"
}

# COLUMNS COMMAND: it prints something; no line is too long, or has a character that is not printable
fits()
{
	local columns=$1
	shift

	on_terminal "$columns" 40 "$@" || { cat "$tmp/raw.screen" "$tmp/messages"; return 1; }
	[ -s "$tmp/screen" ] || { echo "nothing was printed by: $*"; return 1; }
	python3 - "$columns" "$tmp/screen" <<-'EOF'
		import sys, unicodedata
		def columns(line):
		    return sum(0 if unicodedata.category(c) in ("Mn", "Me") else
		               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
		width = int(sys.argv[1])
		lines = open(sys.argv[2], encoding="utf-8").read().split("\n")
		bad = [l for l in lines if columns(l) > width or any(unicodedata.category(c)[0] == "C" for c in l)]
		for line in bad[:3]:
		    print(columns(line), "columns:", repr(line))
		sys.exit(bool(bad))
	EOF
}

verbs_fit() # COLUMNS TRACE: each command that prints tables
{
	local id verb

	id=$($READER goroutines --all --json "$2" | jq '.goroutines | max_by(.exec).id') || return 1
	for verb in goroutines "goroutines --all" "goroutines --goroutine $id" latency "latency --details" "latency --all" \
		"latency --goroutine $id" waits "path --goroutine $id" "path --goroutine $id --summary" \
		"histogram --of block" "profile sync --text" requests tasks regions stat \
		"requests --worst 2" "diff $2"; do
		fits "$1" $READER $verb "$2" || { echo "$verb"; return 1; }
	done
}
