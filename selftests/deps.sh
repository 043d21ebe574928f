#!/bin/bash
# `make deps`: installs missing packages for building and testing on Debian 12 or newer, and lists
# them. Nothing else installs packages. If nothing is missing it prints nothing and takes a moment.
# Arguments are additional packages. With --check as the first argument it installs nothing, but
# fails and lists the packages that are missing.
#
# Three packages of Debian 12 are too old: libbpf (uprobe_multi needs 1.3), bpftool and Go. These
# are installed from the backports suite, whose apt source is a copy of the machine's entry for
# Debian with the suite changed.
set -u

check=
[ "${1-}" != --check ] || { check=yes; shift; }

packages=(git make gcc libc6-dev ca-certificates clang-19 libbpf-dev libbpf1 bpftool libelf-dev
	libdw-dev libzydis-dev libcmocka-dev libcap-dev libmicrohttpd-dev libgnutls28-dev libcurl4-gnutls-dev libseccomp-dev zlib1g-dev libzstd-dev libtraceevent-dev binutils jq curl
	procps iproute2 "$@")
declare -A oldest=([libbpf-dev]=1:1.3 [libbpf1]=1:1.3 [bpftool]=7.3 [golang-go]=2:1.21)
oldest_go=1.21
apt=(apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

die()
{
	echo "deps: $*" >&2
	exit 1
}

go_version() # version of the go that the Makefile will run; empty when there is none
{
	GOTOOLCHAIN=local "${GO:-go}" env GOVERSION 2>/dev/null | sed 's/^go//; s/ .*//'
}

find_missing() # sets missing to the packages that are absent or too old
{
	local -A have=()
	local state name version

	missing=()
	while read -r state name version; do
		[ "$state" = installed ] && have[$name]=$version
	done < <(dpkg-query -W -f='${db:Status-Status} ${Package} ${Version}\n' \
		"${packages[@]}" 2>/dev/null)
	for name in "${packages[@]}"; do
		[ -n "${have[$name]-}" ] &&
			dpkg --compare-versions "${have[$name]}" ge "${oldest[$name]-0}" ||
			missing+=("$name")
	done
	version=$(go_version)
	dpkg --compare-versions "${version:-0}" ge "$oldest_go" || missing+=(golang-go)
}

update() # apt-get update, waiting for a concurrent one to finish
{
	for _ in 1 2 3 4 5 6; do
		"${apt[@]}" -q update >"$log" 2>&1 && return
		grep -q 'Could not get lock' "$log" || break
		sleep 10
	done
	tail -n 5 "$log" >&2
	die "apt-get update failed"
}

# Derives the backports source from the machine's entry for this release's main component: a deb822
# stanza keeps its other fields (mirror, key), a one-line entry its options.
backports_stanza()
{
	cat /dev/null /etc/apt/sources.list.d/*.sources 2>/dev/null | sed '/^[ \t]*#/d' |
	awk -v RS= -v codename="$codename" '
		/(^|\n)Enabled:[ \t]*no/ { next }
		!/(^|\n)Types:[^\n]*deb([ \t]|\n|$)/ || !/(^|\n)Components:[^\n]*[ \t]main/ { next }
		$0 ~ "(^|\n)Suites:([^\n]*[ \t])?(" codename "|(old)?stable)([ \t]|\n|$)" {
			gsub(/(^|\n)(Types|Suites|Components):[^\n]*/, "")
			sub(/^\n/, "")
			printf "Types: deb\nSuites: %s-backports\nComponents: main\n%s\n", codename, $0
			exit
		}'
}

backports_line()
{
	cat /dev/null /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
	sed -nE "s/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+)[[:space:]]+($codename|(old)?stable)[[:space:]](.*[[:space:]])?main([[:space:]].*)?\$/deb \1\2 $codename-backports main/p" |
	head -n 1
}

add_backports()
{
	local file=/etc/apt/sources.list.d/gotrace-backports entry

	apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' |
		grep -qx "$codename-backports" && return
	if entry=$(backports_stanza) && [ -n "$entry" ]; then
		file=$file.sources
	elif entry=$(backports_line) && [ -n "$entry" ]; then
		file=$file.list
	else
		die "cannot add $codename-backports: no apt source contains $codename main"
	fi
	echo "deps: adding the suite $codename-backports ($file)"
	printf '%s\n' "$entry" >"$file" || die "cannot write $file"
	update
}

candidate() # the version that apt-get install would select by default
{
	apt-cache policy "$1" | awk '/Candidate:/ { print $2 }'
}

plan() # sets wanted to the arguments of apt-get install
{
	local name

	wanted=()
	for name in "${missing[@]}"; do
		if [ -n "${oldest[$name]-}" ] &&
		   ! dpkg --compare-versions "$(candidate "$name")" ge "${oldest[$name]}"; then
			add_backports
			wanted+=("$name/$codename-backports")
			# golang-go depends on exactly its version of golang-src
			[ "$name" = golang-go ] && wanted+=("golang-src/$codename-backports")
		else
			wanted+=("$name")
		fi
	done
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	[ -z "$check" ] || exit 0 # the compiler will report what is missing
	die "apt is missing: Debian 12 or newer is required, with ${packages[*]} golang-go"
fi
find_missing
[ ${#missing[@]} -eq 0 ] && exit 0
[ -z "$check" ] && [ "$(id -u)" -eq 0 ] || die "missing packages: ${missing[*]}; run 'make deps' as root"

echo "installing missing packages (make deps): ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
update
plan
"${apt[@]}" install -qq -y --no-install-recommends "${wanted[@]}" </dev/null >"$log" 2>&1 || {
	grep -E '^(E:|W:)|Depends' "$log" >&2 || tail -n 5 "$log" >&2
	die "apt-get install failed"
}
find_missing
case "${missing[*]}" in
'') ;;
golang-go) die "${GO:-go} on PATH is older than Go $oldest_go; try make GO=/usr/bin/go" ;;
*) die "packages are still missing after the installation: ${missing[*]}" ;;
esac
