#!/bin/bash
# Requests to net/http servers as tasks (record --requests http): names and statuses equal the counters
# of a server's outermost handler, by HTTP/1 and HTTP/2, and nothing else of a request is in the trace;
# a replay gives the same trace; names are limited; what cannot be recorded is refused.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

export GODEBUG=httpmuxgo121=0	# the module's language version is older than patterns

# FILE: {NAME:{STATUS:N}} of its tasks; without a status that is the category of a log, or "none"
statuses()
{
	build/gotrace events --json --type UserTaskBegin,UserLog "$1" | jq -nS '
		reduce inputs as $e ({};
			if $e.event == "UserTaskBegin" then .name[$e.task | tostring] = $e.type
			else .status[$e.task | tostring] = (if $e.category == "status" then $e.message else $e.category end) end) |
		.status as $status |
		reduce (.name | to_entries[]) as $task ({}; .[$task.value][$status[$task.key] // "none"] += 1)'
}

# GO "OPTIONS" [ARGUMENT...]
counted()
{
	record_target web "$1" "--requests http $2" "${@:3}" && check_trace "$RECORDED" &&
		[ "$(stat_of 'dropped + .lost + .text_misses' "$tmp/web.json")" = 0 ] || return 1
	statuses "$RECORDED" >"$tmp/ours.json" &&
		jq -S .requests "$tmp/web.done" | diff - "$tmp/ours.json" && jq -e 'length == 19' "$tmp/ours.json" >/dev/null
}

# The times of requests, measured by probes and by the outermost handler. They are reported only.
times()
{
	build/gotrace tasks --json "$RECORDED" >"$tmp/tasks.json" || return 1
	note "in process: $(jq -c '{p50, p99}' "$tmp/web.done")"
	build/gotrace events --json --type UserTaskBegin,UserTaskEnd "$RECORDED" | jq -nr '
		reduce inputs as $e ({}; if $e.event == "UserTaskBegin" then .[$e.task | tostring] = -$e.time
			else .[$e.task | tostring] += $e.time end) | [.[]] | sort |
		"traced: {\"p50\":\(.[length / 2 | floor]),\"p99\":\(.[length * 99 / 100 | floor])}"' | sed 's/^/# /'
}

# No query, header, or body is in the file.
private()
{
	grep -q hushhush "build/targets/$ORACLE_GO/web" && grep -q 'GET /users/{id}' "$RECORDED" && ! grep -q hushhush "$RECORDED"
}

replayed()
{
	counted "$ORACLE_GO" "--save-input $tmp/raw --max-names 7" -n 1 >/dev/null
	[ "$(jq 'length' "$tmp/ours.json")" = 8 ] && jq -e .other "$tmp/ours.json" >/dev/null &&
		$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

# Different paths in great number: each has a name up to the limit, and none is lost.
limited()
{
	record_target web "$ORACLE_GO" "--requests http --max-names 100" -paths 4000 && check_trace "$RECORDED" &&
		statuses "$RECORDED" >"$tmp/ours.json" &&
		jq -e 'length == 101 and .other["200"] == 3900 and ([.[]["200"]] | add) == 4000' "$tmp/ours.json"
}

# GO: the rows for its release equal the DWARF of a program that it has built.
offsets()
{
	local release=${1#go1.}

	awk -v release="$((${release%.*} * 1000 + ${release#*.}))" '
		function number(text,    r) {
			if (text == "FIRST") return 20000
			if (text == "LAST") return 27999
			if (text == "BUNDLED") return 26999
			if (text == "PACKAGE") return 27000
			sub(/PATTERN_SINCE/, "23", text)
			gsub(/[^0-9,]/, "", text)
			split(text, r, ",")
			return r[1] * 1000 + r[2]
		}
		/^\t\{ [A-Z0-9_]+, "net/ {
			split($0, quoted, "\"")
			rest = quoted[5]
			from = match(rest, /(FIRST|PACKAGE|RELEASE\([^)]*\))/) ? substr(rest, RSTART, RLENGTH) : ""
			rest = substr(rest, RSTART + RLENGTH)
			to = match(rest, /(LAST|BUNDLED|RELEASE\([^)]*\))/) ? substr(rest, RSTART, RLENGTH) : ""
			rest = substr(rest, RSTART + RLENGTH)
			gsub(/[^0-9]/, "", rest)
			if (release >= number(from) && release <= number(to))
				print quoted[2], quoted[4], rest
		}' userspace/target/probe/presets_http.c | sort >"$tmp/table" || return 1
	readelf --debug-dump=info "build/targets/$1/web" 2>/dev/null | awk '
		/DW_TAG_structure_type/ { type = ""; inside = 1; next }
		/DW_TAG_member/ { inside = 2; next }
		/DW_TAG_/ { inside = 0; next }
		inside && /DW_AT_name/ {
			name = $NF
			if (inside == 1) type = name
		}
		inside == 2 && /DW_AT_data_member_loc/ { print type, name, $NF }' | sort -u >"$tmp/dwarf"
	[ "$(wc -l <"$tmp/table")" -ge 8 ] && ! comm -23 "$tmp/table" "$tmp/dwarf" | grep .
}

stripped()
{
	mkdir -p "$tmp/$1" &&
		(cd selftests/targets && CGO_ENABLED=0 GOTOOLCHAIN=$1 "${GO:-go}" build -buildvcs=false -ldflags='-s -w' \
			-o "$OLDPWD/$tmp/$1/web" ./web) &&
		counted "$PWD/$tmp/$1" ""
}

ktap_start
newest=$(newest_go_of web)
for go in $TARGET_GOS $newest; do
	try "$go: names and statuses" counted "$go" ""
done
for go in $TARGET_GOS $newest; do
	try "$go: the table of offsets" offsets "$go"
done
try "a stripped program" stripped "$ORACLE_GO"
in_all try "with perf uprobes, and regions" counted "$ORACLE_GO" "--force-perf-uprobes --region main.visit"
try "the times" times
try "nothing else of a request is recorded" private
try "a replay, with few names" replayed
in_all try "many different paths" limited
tiny=build/targets/$ORACLE_GO/tiny
try "no server" refused 1 "the program has no net/http server" $GOTRACE record -o "$tmp/no.trace" --requests=http -- "$tiny"
try "an unknown kind" refused 2 "unknown kind of requests 'htp': expected a list of http" $GOTRACE record --requests=htp -- "$tiny"
try "names without requests" refused 2 "max-names requires --requests" $GOTRACE record --max-names 3 -- "$tiny"
try "no names" refused 2 "invalid number of names '0'" $GOTRACE record --requests=http --max-names 0 -- "$tiny"
try "inline probes" refused 2 "cannot be combined" $GOTRACE record -p $$ --requests=http --probes=inline
ktap_end
