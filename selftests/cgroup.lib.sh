# A cgroup with a CPU quota, for programs that join it; read after lib.sh.

# Creates the cgroup $quota_group, in either version: a process in it has QUOTA microseconds in each
# 100 ms; -1: no limit. It has a high weight, so that all its waiting is due to the quota.
quota_group() # QUOTA
{
	local root quota=$1

	if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
		quota_group=/sys/fs/cgroup/cpu/gotrace-quota.$$
		mkdir "$quota_group" && echo 100000 >"$quota_group/cpu.cfs_period_us" &&
			echo "$quota" >"$quota_group/cpu.cfs_quota_us" && echo 262144 >"$quota_group/cpu.shares"
		return
	fi
	root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	if ! grep -qw cpu "${root:-/nowhere}/cgroup.controllers" 2>/dev/null; then
		echo "no cgroup with a CPU controller, of version 1 or 2, to set a quota in"
		return 1
	fi
	[ "$quota" != -1 ] || quota=max
	quota_group=$root/gotrace-quota.$$
	grep -qw cpu "$root/cgroup.subtree_control" || echo +cpu >"$root/cgroup.subtree_control" || return 1
	mkdir "$quota_group" && echo "$quota 100000" >"$quota_group/cpu.max" && echo 10000 >"$quota_group/cpu.weight"
}
