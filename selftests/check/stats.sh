#!/bin/bash
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/targets
# Figures of `gotrace-bpf record --stats` that the kernel knows, too: the size of the rings and how the probes are
# attached, by the descriptors of the recorder; its CPU time, by the resources that the kernel accounted to it.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

described() # FIELD=VALUE NAME: the values of NAME in what the kernel says of the recorder's descriptors with FIELD=VALUE
{
	local field=${1%%=*} value=${1#*=} file

	for file in "/proc/$BACKGROUND_PID/fdinfo/"*; do
		awk -v field="$field:" -v value="$value" -v name="$2:" '$1 == field && $2 == value { is = 1 } $1 == name { found = $2 }
			END { if (is) print found }' "$file" 2>/dev/null
	done
}

# SIZE: rings of other sizes have other sums
attached()
{
	start_target pingpong "$ORACLE_GO" -duration 10s -rate 100 &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/trace" --force --stats "$tmp/stats" --ring-size="$1" && recorder_is_live || return 1
	rings=$(described map_type=27 max_entries | awk '{ sum += $1 } END { print sum + 0 }')
	links=$(described link_type=uprobe_multi link_id | wc -l)
	stop_recorder && kill "$TARGET_PID" && echo "$rings bytes, $links links of type uprobe_multi" &&
		jq -e --argjson rings "$rings" --argjson links "$links" '.ring_bytes == $rings and .uprobe_multi == ($links > 0)' "$tmp/stats"
}

rings()
{
	attached 64K && first=$rings && attached 1M && [ "$rings" -gt "$first" ] && [ "$first" -gt 0 ]
}

# At the end of the process it has used a little more, for the end of the recording.
cpu_time()
{
	start_target pingpong "$ORACLE_GO" -duration 60s -rate 2000 && tell_target start &&
		python3 -c '
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(child.pid, 0)
print(round((used.ru_utime + used.ru_stime) * 1e9))
sys.exit(os.waitstatus_to_exitcode(status))' $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp/trace" --force --stats "$tmp/stats" >"$tmp/used" &&
		kill "$TARGET_PID" && jq -e --slurpfile used "$tmp/used" '[.daemon_cpu_ns, $used[0]] | debug | .[0] <= .[1] + 4e6 and .[0] >= 0.7 * .[1]' "$tmp/stats"
}

ktap_start
try "the size of rings, and how probes are attached" rings && note "$(grep bytes, "$tmp/try.out")"
try "the recorder's CPU time" cpu_time
ktap_end
