#!/bin/bash
# tier: long
# timeout: 3600
# Like check/symbols.sh, for every build mode of the oldest, a middle and the newest release; also
# programs obfuscated by garble: their frames are correct, and a recording is rejected with the
# reason.
. "$(dirname "$0")/../lib.sh"
. selftests/symbols.lib.sh
GARBLE=mvdan.cc/garble@v0.16.0 # for Go 1.26

compare() # GO CGO FLAG...
{
	local go=$1 cgo=$2
	shift 2

	build_symbols "$go" "$cgo" "$tmp/program" "$@" && same_as_runtime "$tmp/program" 3
}

garbled() # FLAG...
{
	(cd selftests/targets && GOTOOLCHAIN=$ORACLE_GO CGO_ENABLED=0 "$OLDPWD/$tmp/garble" "$@" build -tags garbled \
		-o "$OLDPWD/$tmp/garbled" ./symbols) || return 1
	FRAMES_GO=$ORACLE_GO same_as_runtime "$tmp/garbled" 3 3000 &&
		! $GOTRACE probes --exe "$tmp/garbled" 2>"$tmp/error" &&
		grep -q 'obfuscated, by garble' "$tmp/error"
}

ktap_start
for go in go1.21.13 go1.24.9 "$ORACLE_GO"; do
	try "$go" compare "$go" 0
	try "$go -s -w" compare "$go" 0 "-ldflags=-s -w"
	try "$go PIE" compare "$go" 0 -buildmode=pie
	try "$go PIE -s -w" compare "$go" 0 -buildmode=pie "-ldflags=-s -w"
	try "$go -trimpath" compare "$go" 0 -trimpath
	try "$go -N -l" compare "$go" 0 "-gcflags=all=-N -l"
	try "$go race detector" compare "$go" 1 -race
	try "$go cgo" compare "$go" 1
	try "$go cgo, external linking, -s -w" compare "$go" 1 "-ldflags=-linkmode=external -s -w"
	try "$go cgo, external linking, PIE" compare "$go" 1 -buildmode=pie -ldflags=-linkmode=external
done
note "$PCS PCs compared"
try "garble is installed" env GOBIN="$PWD/$tmp" GOTOOLCHAIN="$ORACLE_GO" "${GO:-go}" install "$GARBLE"
try "garbled" garbled
try "garbled, literals too" garbled -literals
try "garbled, tiny" garbled -tiny
ktap_end
