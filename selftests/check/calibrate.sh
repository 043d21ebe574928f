#!/bin/bash
# tier: long
# timeout: 14400
# Offsets found by machine code analysis, for many releases and build modes. Each cell is the target
# selftrace and two variants without symbols and DWARF, by strip and by Go's linker, which must give
# the same offsets. Calibration must agree with the program's DWARF and symbol table, and find all
# offsets (except in profile-guided builds, where inlining may hide some code). Prints a table of
# the number of offsets found; "+" marks that the variants were compared.
#
# CALIBRATE_GOS and CALIBRATE_KINDS select cells; the default is all.
. "$(dirname "$0")/../lib.sh"
. selftests/releases.lib.sh

# shellcheck disable=SC2086 # words
gos=${CALIBRATE_GOS:-$(sorted_gos $FIRST_GOS $LAST_GOS ${TARGET_GOS//go/})}
kinds=${CALIBRATE_KINDS:-plain pie noopt race cgo pgo}

ktap_start
program=$PWD/$tmp/program
profile=$PWD/$tmp/cpu.pprof
test=build/selftests/unit/target/infer/test_calibrate	# not sanitized: the sanitized one runs in make check

go_build() # GO LDFLAGS OUTPUT FLAG...
{
	local version=go$1 ldflags=$2 output=$3 go=go
	shift 3

	(cd selftests/targets && export GOTOOLCHAIN=$version || exit 1
	if [[ $version == go1.19.* ]]; then	# cannot build from the module cache that it uses
		go=$(go env GOROOT)/bin/go
		export GOMODCACHE=$OLDPWD/build/go1.19
	fi
	"$go" build -buildvcs=false -ldflags="$ldflags" "$@" -o "$output" ./selftrace)
}

build_cell() # GO KIND: the program and its variants
{
	local cgo=0 ldflags='' flags=()

	case $2 in
	pie) flags=(-buildmode=pie) ;;
	noopt) flags=('-gcflags=all=-N -l') ;;
	race) cgo=1 flags=(-race) ;;
	cgo) cgo=1 ldflags=-linkmode=external ;;
	pgo) flags=(-pgo="$profile") ;;
	esac
	CGO_ENABLED=$cgo go_build "$1" "$ldflags" "$program" "${flags[@]}" &&
		strip -o "$program.bare" "$program" &&
		CGO_ENABLED=$cgo go_build "$1" "$ldflags -s -w" "$program.stripped" "${flags[@]}"
}

# A profile of the busy scheduler, so that the compiler inlines its hot functions.
make_profile()
{
	mkdir "$tmp/hot" && cat >"$tmp/hot/main.go" <<-'EOF'
	package main

	import (
		"os"
		"runtime"
		"runtime/pprof"
		"time"
	)

	func main() {
		a, b := make(chan int), make(chan int)
		pprof.StartCPUProfile(os.Stdout)
		go func() {
			for x := range a {
				b <- x
			}
		}()
		for begin := time.Now(); time.Since(begin) < 3*time.Second; {
			a <- 1
			go runtime.Gosched()
			os.Getppid()
			f, _ := os.Open("/dev/null")
			f.Close()
			<-b
		}
		pprof.StopCPUProfile()
	}
	EOF
	CGO_ENABLED=0 GOTOOLCHAIN=$ORACLE_GO go build -o "$tmp/hot/hot" "$tmp/hot/main.go" &&
		"$tmp/hot/hot" >"$profile" && test -s "$profile"
}

check_offsets() # KIND
{
	if [ "$1" = pgo ]; then
		export GT_CALIBRATE_PARTIAL=1
	else
		unset GT_CALIBRATE_PARTIAL
	fi
	GT_REQUIRE_PROGRAMS=1 GT_TEST_PROGRAMS=$program "$test"
}

cell() # GO KIND: builds and checks; sets $cell to the table entry
{
	cell=-
	rm -f "$program" "$program.bare" "$program.stripped"
	build_cell "$1" "$2" && test -e "$program.stripped" && check_offsets "$2" >"$tmp/checked" 2>&1
	local status=$?

	cat "$tmp/checked"
	[ $status -eq 0 ] || return 1
	cell=$(sed -n 's/^# go.*: \([0-9]*\) of \([0-9]*\) members.*/\1\/\2/p' "$tmp/checked")
	[ "$(grep -c ' has the same$' "$tmp/checked")" -ne 2 ] || cell+=+
	[[ $cell == *+ ]]
}

make -s "$test" >/dev/null || exit 1
case " $kinds " in
*' pgo '*) try "a profile of the scheduler" make_profile ;;
esac
table=$(printf '%-9s' go; printf '%-8s' $kinds)
for go in $gos; do
	row=$(printf '%-9s' "$go")
	for kind in $kinds; do
		if [ "$kind" = pgo ] && [[ $go =~ ^1\.(19|20)\. ]]; then
			row+=$(printf '%-8s' ' ')	# no profile-guided builds yet
			continue
		fi
		: >"$tmp/checked"
		try "$go $kind: the offsets found are correct" cell "$go" "$kind"
		row+=$(printf '%-8s' "$cell")
	done
	table+=$'\n'$row
done
note "$table"
ktap_end
