# Rows of `gotrace sql`, and their comparison with those of other commands; needs lib.sh and reader.lib.sh.

sql() # QUERY FILE...: one JSON object per row, with its keys in order
{
	timeout 60 $READER sql --json "$@" >"$tmp/sql.json" && jq -c -S '.rows[]' "$tmp/sql.json"
}

# NAME: $tmp/NAME.sql and $tmp/NAME.other are equal, and have at least LINES lines
same()
{
	[ "$(wc -l <"$tmp/$1.sql")" -ge "${2-1}" ] || { echo "$1: $(wc -l <"$tmp/$1.sql") lines"; return 1; }
	same_text "$tmp/$1.sql" "$tmp/$1.other"
}
