#!/bin/bash
# Proves that the two commands of the README are the complete set-up: creates a bare Debian 12 root
# in a folder, clones this tree (committed files) into it, with git, make and ca-certificates, and
# runs `make demo` and `make check` there. From the machine it uses the kernel, the Debian mirror
# and the network settings: apt's Acquire settings, proxy variables, extra certificates.
#
#     selftests/bare-root.sh [FOLDER [COMMAND...]]
#
# The root's apt sources are the suites of a Debian image: release, updates, security. It becomes the root of the
# mount namespace, so that commands in it may unshare theirs.
#
# FOLDER is created, or replaced (3 GB); COMMANDs replace the two. Needs root and debootstrap. All mounts
# are in a private mount namespace, so none remains after the script ends, for any reason.
set -u
here=$(cd "$(dirname "$0")/.." && pwd) || exit 1
folder=${1-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-bpf/bare-root}
shift
[ $# -gt 0 ] || set -- 'make demo' 'make check'
passed_on=(http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY GOPROXY GOSUMDB GONOSUMDB
	GOPRIVATE GOINSECURE SSL_CERT_FILE SSL_CERT_DIR)

die()
{
	echo "bare-root: $*" >&2
	exit 1
}

make_root()
{
	local mirror

	if [ -e "$folder" ]; then
		[ -e "$folder/.gotrace-bare-root" ] || die "$folder exists and was not created by this script"
		rm -rf --one-file-system "$folder" || exit 1
	fi
	mkdir -p "$folder" && touch "$folder/.gotrace-bare-root" || exit 1
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(RELEASE)' \
		'Created-By: Packages' | awk '$2 == "main" && $3 !~ /-/ { print $1; exit }')
	[ -n "$mirror" ] || die "no Debian mirror among this machine's apt sources"
	echo "bare-root: debootstrap into $folder"
	debootstrap --variant=minbase bookworm "$folder" "$mirror" >"$folder/debootstrap.log" 2>&1 || {
		tail -n 5 "$folder/debootstrap.log" >&2
		die "debootstrap failed"
	}
}

# As in Debian's own images; the mirror of security updates is the one of this machine.
complete_sources()
{
	local security

	security=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT) $(RELEASE) $(SUITE)' 'Created-By: Packages' |
		awk '$2 == "main" && /security/ { print $1; exit }')
	sed 's/bookworm/bookworm-updates/' "$folder/etc/apt/sources.list" >>"$folder/etc/apt/sources.list.d/updates.list"
	[ -z "$security" ] || echo "deb $security bookworm-security main" >"$folder/etc/apt/sources.list.d/security.list"
}

copy_network_settings()
{
	cp -L /etc/resolv.conf /etc/hosts "$folder/etc/"
	apt-config dump | grep -E '^Acquire::(Check-|https?::|Retries|Languages)' \
		>"$folder/etc/apt/apt.conf.d/99host"
	cp -r /usr/local/share/ca-certificates "$folder/usr/local/share/" 2>/dev/null
	if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
		mkdir -p "$folder/etc/ssl/certs"
		cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
	fi
}

mount_kernel()
{
	mount --bind "$folder" "$folder" &&
	mount -t proc proc "$folder/proc" &&
	mount --rbind /sys "$folder/sys" &&
	mount --rbind /dev "$folder/dev" || die "cannot mount /proc, /sys and /dev"
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf "$folder/sys/fs/bpf"
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs "$folder/sys/kernel/tracing"
}

chroot=(chroot "$folder") # not when it is the root of the namespace
inside() # COMMAND: run it in the root, in the tree if that is there, with a clean environment
{
	local settings=() name

	for name in "${passed_on[@]}"; do
		[ -n "${!name-}" ] && settings+=("$name=${!name}")
	done
	"${chroot[@]}" /usr/bin/env -i HOME=/root LANG=C.UTF-8 CI="${CI-}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" \
		/bin/bash -c "cd /root/gotrace-bpf 2>/dev/null; $1" </dev/null
}

[ "$(id -u)" -eq 0 ] || die "root is required"
if [ -z "${BARE_ROOT_UNSHARED-}" ]; then
	"$here/selftests/deps.sh" debootstrap || exit 1
	BARE_ROOT_UNSHARED=1 exec unshare --mount --propagation private "$0" "$folder" "$@"
fi

make_root
complete_sources
copy_network_settings
mount_kernel
inside 'apt-get -q update && DEBIAN_FRONTEND=noninteractive \
	apt-get install -qq -y --no-install-recommends git make ca-certificates' \
	>"$folder/packages.log" 2>&1 || { tail -n 5 "$folder/packages.log" >&2; die "apt-get failed"; }
[ -z "$(git -C "$here" status --porcelain)" ] ||
	echo "bare-root: note: uncommitted changes are not in the clone"
git clone -q --no-hardlinks "$here" "$folder/root/gotrace-bpf" || die "cannot clone $here"

cd "$folder" && mkdir -p .host && pivot_root . .host && umount -l /.host && cd / || die "cannot change the root"
chroot=()

results=()
failures=0
for command in "$@"; do
	echo "bare-root: $command"
	started=$SECONDS
	if inside "$command"; then
		results+=("ok      $command ($((SECONDS - started)) s)")
	else
		results+=("FAILED  $command ($((SECONDS - started)) s)")
		failures=$((failures + 1))
	fi
done
printf 'bare-root: %s\n' "${results[@]}"
exit "$((failures > 0))"
