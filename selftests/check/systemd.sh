#!/bin/bash
# The systemd unit of gotrace-bpf serve under a real systemd, in a virtual machine: its hardening lets
# the service record, the service reports that it is ready, a service that hangs is killed and started
# again, and its end removes every probe.
# tier: all
# parallel
# timeout: 400
# depends on: Makefile bpf include userspace debian selftests/vm selftests/service selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/vm.lib.sh

# NAME LINE...: a unit of the machine
unit()
{
	local name=$1
	shift
	printf '%s\n' "$@" >"$UNITS/$name"
}

# The installed files are copied to the guest's root. Nothing of the host's own units runs: the manager
# looks only into the folder of the share.
write_units()
{
	local root=$SHARE/root
	locked make -s DESTDIR="$root" PREFIX=/usr install install_service >"$tmp/install" &&
		install -D -m 644 -t "$UNITS" "$root/usr/lib/systemd/system/gotrace-bpf.service" || return 1
	unit default.target "[Unit]" "Wants=test.service"
	unit sysinit.target "[Unit]"
	unit basic.target "[Unit]"
	unit shutdown.target "[Unit]" "DefaultDependencies=no"
	unit multi-user.target "[Unit]"
	unit test.service "[Unit]" "SuccessAction=poweroff-force" "FailureAction=poweroff-force" \
		"[Service]" "Type=oneshot" "WorkingDirectory=$PWD" "Environment=VM_SHARE=$SHARE HOME=/root GT_SLOWNESS=$stretch" \
		"ExecStartPre=/bin/cp -a $SHARE/root/. /" "ExecStart=/bin/bash selftests/service/systemd.guest.sh" "StandardOutput=file:/dev/ttyS1" "StandardError=file:$SHARE/errors"
	mkdir "$UNITS/gotrace-bpf.service.d" &&
		unit gotrace-bpf.service.d/test.conf "[Service]" "StandardOutput=append:$SHARE/service.log" "StandardError=append:$SHARE/service.log" \
			"WatchdogSec=$((10 * stretch))" "RestartSec=1"
}

# Reads the guest's results and prints them as those of this script.
pass_on()
{
	local line plan=none results=0

	while IFS= read -r line; do
		case $line in
		1..*) plan=${line#1..} ;;
		"ok "*) line=${line#ok } results=$((results + 1)) && ok "${line#* }" ;;
		"not ok "*) line=${line#not ok } results=$((results + 1)) && not_ok "${line#* }" ;;
		"# "*) note "${line#\# }" ;;
		esac
	done
	[ "$results" = "$plan" ] && return
	note "$(tail -n 30 "$tmp/vm/console" | tr -d '\r\0')" && note "$(tail -n 30 "$SHARE/errors" "$SHARE/service.log")"
	not_ok "the guest printed $results results of $plan"
}

ktap_start
trap 'vm_cleanup; ktap_cleanup' EXIT
VM_PACKAGES+=(systemd)
if ! vm_have 6.12; then
	not_ok "SKIPPED: $VM_REASON"
	ktap_end
fi
mkdir -p "$tmp/vm/share"
SHARE=$(realpath "$tmp/vm/share") UNITS=$SHARE/units
try "the unit is installed" write_units || ktap_end
pass_on < <(vm_boot 6.12 "$tmp/vm" $((300 * stretch)))
for name in http snapshot; do
	try "its trace is valid: $name" check_trace "$SHARE/$name.trace"
done
ktap_end
