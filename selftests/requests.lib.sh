# Compares the requests of a trace with those that the program has counted (record --requests). Read after
# lib.sh and record.lib.sh.

SECRET=hushhush # in literals and comments of the targets

# TRACE DONE: the tasks of calls, by name and outcome (their log "status" or "code", else "error" or "ok"),
# are the requests of the done line, and all have ended
requests_equal()
{
	build/gotrace events --json "$1" | jq -n '
		reduce inputs as $e ({};
			if $e.event == "UserTaskBegin" then .begun["\($e.task)"] = $e.type
			elif $e.event == "UserTaskEnd" then .ended["\($e.task)"] = true
			elif $e.event == "UserLog" and $e.category == "error" then .error["\($e.task)"] = true
			elif $e.event == "UserLog" then .outcome["\($e.task)"] = $e.message
			else . end) |
		.ended as $ended | .error as $error | .outcome as $outcome |
		reduce (.begun // {} | to_entries[]) as $t ({};
			.[$t.value][$outcome[$t.key] // (if $error[$t.key] then "error" else "ok" end)] += 1 |
			if $ended[$t.key] then . else .open += 1 end)' >"$tmp/found.json"
	jq '.requests | map_values(with_entries(select(.value > 0)))' "$2" >"$tmp/wanted.json"
	jq -e --slurpfile want "$tmp/wanted.json" '. == $want[0] and . != {}' "$tmp/found.json" >"$tmp/equal" && return
	diff <(jq -S . "$tmp/found.json") <(jq -S . "$tmp/wanted.json") | head -n 20
	return 1
}

nothing_lost() # STATS
{
	jq -e '[.dropped, .lost, .repairs, .text_misses] | add == 0' "$1"
}

# TARGET GO OPTIONS [ARGUMENT...]
counted()
{
	record_target "$@" && check_trace "$RECORDED" && requests_equal "$RECORDED" "$tmp/$1.done" &&
		nothing_lost "$tmp/$1.json"
}

no_secret() # TRACE
{
	local found

	found=$(build/gotrace text "$1" | grep -c "$SECRET")
	echo "$found events contain the secret"
	[ "$found" -eq 0 ] && ! grep -q "$SECRET" "$1"
}
