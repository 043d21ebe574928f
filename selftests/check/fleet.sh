#!/bin/bash
# The examples of docs/fleet.md: the DaemonSet by the schema of Kubernetes, the unit by systemd, and the
# command line of the unit by `gotrace ship` itself.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile docs/fleet.md include userspace
. "$(dirname "$0")/../lib.sh"

VALIDATE=build/python-fleet/bin/kubernetes-validate

tools()
{
	selftests/deps.sh python3-venv systemd || return 1
	[ -x $VALIDATE ] && return
	python3 -m venv build/python-fleet &&
		build/python-fleet/bin/pip -q install --disable-pip-version-check kubernetes-validate==1.37.0
}

example() # LANGUAGE: the block of this language
{
	sed -n "/^\`\`\`$1$/,/^\`\`\`$/p" docs/fleet.md | sed '1d; $d'
}

extracted()
{
	example yaml >"$tmp/set.yaml"
	example ini | sed "s,^ExecStart=[^ ]*,ExecStart=$PWD/build/gotrace," >"$tmp/gotrace-ship.service"
	[ "$(wc -l <"$tmp/set.yaml")" -gt 50 ] && [ "$(wc -l <"$tmp/gotrace-ship.service")" -gt 30 ]
}

is_valid_set() # FILE VERSION
{
	$VALIDATE --strict -k "$2" "$1" 2>&1
}

daemon_set()
{
	local version
	for version in 1.30 1.37; do
		is_valid_set "$tmp/set.yaml" "$version" || return 1
	done
}

# A member that does not exist, and a value of another type
wrong_sets()
{
	local change
	for change in 's/hostPID:/hostPid:/' 's/runAsUser: 0.*/runAsUser: root/' 's/privileged: true/privileged: 7/'; do
		sed "$change" "$tmp/set.yaml" >"$tmp/wrong.yaml"
		! cmp -s "$tmp/set.yaml" "$tmp/wrong.yaml" && ! is_valid_set "$tmp/wrong.yaml" 1.30 >"$tmp/out" &&
			[ -s "$tmp/out" ] || { echo "$change"; return 1; }
	done
}

# systemd warns about what it does not know, and exits with 0.
is_valid_unit() # FILE
{
	systemd-analyze verify --man=no "$1" >"$tmp/out" 2>&1 </dev/null && [ ! -s "$tmp/out" ] && return
	cat "$tmp/out"
	return 1
}

wrong_units()
{
	local change
	mkdir -p "$tmp/wrong"
	for change in 's/^ProtectSystem=/ProtectSytem=/' 's/^RestartSec=30/RestartSec=soon/' 's/^MemoryMax=1G/MemoryMax=1Q/'; do
		sed "$change" "$tmp/gotrace-ship.service" >"$tmp/wrong/gotrace-ship.service"
		! cmp -s "$tmp/gotrace-ship.service" "$tmp/wrong/gotrace-ship.service" &&
			! is_valid_unit "$tmp/wrong/gotrace-ship.service" >/dev/null || { echo "$change"; return 1; }
	done
}

# With its directories, which are missing here: exit status 1, and not 2 as for a mistake
command_line()
{
	local words
	read -r -a words < <(sed -n "s,^ExecStart=,,p" "$tmp/gotrace-ship.service" |
		sed "s,\${STATE_DIRECTORY},$tmp,; s,\${CREDENTIALS_DIRECTORY},$tmp,; s,/var/lib/gotrace-bpf,$tmp/missing,")
	printf 'aws_access_key_id = a\naws_secret_access_key = b\n' >"$tmp/keys"
	chmod 600 "$tmp/keys"
	timeout 20 "${words[@]}" >"$tmp/out" 2>&1 </dev/null
	local status=$?
	cat "$tmp/out"
	[ $status -eq 1 ] && grep -q "cannot open the directory $tmp/missing/spool" "$tmp/out"
}

ktap_start
if try "the tools are installed" locked tools && try "the examples are found" extracted; then
	try "the DaemonSet is valid for Kubernetes" daemon_set
	try "mistakes in the DaemonSet are found" wrong_sets
	try "the unit is valid for systemd" is_valid_unit "$tmp/gotrace-ship.service"
	try "mistakes in the unit are found" wrong_units
	try "its command line is valid" command_line
fi
ktap_end
