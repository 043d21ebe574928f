#!/bin/bash
# timeout: 1200
# The kernel module and the recorder on kernels of their own, in virtual machines: `make check-vm`, which
# always runs. Here a run that passed is not repeated as long as all that it is made of is the same, to the
# byte: this tree's sources and the machine's packages. Then its lines are shown again, and that is said.
# Long enough to hear of a machine that hangs: one has 780 s, and then the one that counts instructions 300 s.
set -u -o pipefail
kept=${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-selftests/vm
key=$({
	find Kbuild Makefile bpf include kmod userspace selftests -name '*.ko' -prune -o -type f -print |
		LC_ALL=C sort | xargs sha256sum
	dpkg-query -W
	"${GO:-go}" version
} | sha256sum)
run=$kept/passed-${key:0:16}

if [ -s "$run" ]; then
	echo "# of $(date -r "$run" '+%F %T'), of the very same sources and packages: make check-vm runs it again"
	exec cat "$run"
fi
mkdir -p "$kept" && new=$(mktemp "$kept/running.XXXXXX") || exit 1
trap 'rm -f "$new"' EXIT
"$(dirname "$0")/../vm/run" | tee "$new" && mv "$new" "$run"
