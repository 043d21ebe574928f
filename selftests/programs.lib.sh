# Builds Go programs at test time with many releases and in many modes; read after lib.sh. Programs
# are cached outside the tree, under a name derived from all their inputs.

. selftests/releases.lib.sh

PROGRAM_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-selftests

# KIND: prints the build mode as arguments of `go build`. The kind "debugfile" is derived from a
# plain build, and "pgo" uses a profile that makes the compiler inline as much of the scheduler as
# possible. Programs of the kinds "musl*" use cgo and are linked with musl, as in Alpine images, by
# musl-gcc of the package musl-tools.
kind_options()
{
	case $1 in
	plain | pgo | debugfile) ;;
	stripped) echo "-ldflags=-s -w" ;;
	pie) echo "-buildmode=pie" ;;
	pie-stripped) printf '%s\n' "-buildmode=pie" "-ldflags=-s -w" ;;
	trimpath) echo "-trimpath" ;;
	noopt) echo "-gcflags=all=-N -l" ;;
	race) echo "-race" ;;
	external | musl) echo "-ldflags=-linkmode=external" ;;
	musl-static) echo "-ldflags=-linkmode=external -extldflags=-static" ;;
	musl-static-stripped) echo "-ldflags=-s -w -linkmode=external -extldflags=-static" ;;
	musl-pie) printf '%s\n' "-buildmode=pie" "-ldflags=-linkmode=external" ;;
	*) return 1 ;;
	esac
}

has_kind() # VERSION KIND: profiles are supported since 1.20
{
	[ "$2" != pgo ] || [ "$(minor_of "$1")" -ge 20 ]
}

# VERSION KIND NAME...: builds the targets and sets PROGRAMS to their folder. False, with the
# compiler's message, if they do not build.
build_programs()
{
	local version=$1 kind=$2 key temporary
	shift 2

	key=$({
		echo "$PWD $version $kind $*" # file names in frames contain the tree's path
		declare -f make_programs kind_options go_build_target go_release make_profile split_debug
		find selftests/targets/go.mod selftests/targets/internal "${@/#/selftests/targets/}" \
			-type f | LC_ALL=C sort | xargs sha256sum
	} | sha256sum)
	PROGRAMS=$PROGRAM_CACHE/$version-$kind-${key:0:16}
	[ ! -e "$PROGRAMS" ] || return 0
	mkdir -p "$PROGRAM_CACHE"
	temporary=$(mktemp -d "$PROGRAM_CACHE/building.XXXXXX") || return 1
	if make_programs "$version" "$kind" "$temporary" "$@" && mv -T "$temporary" "$PROGRAMS"; then
		return 0
	fi
	rm -rf "$temporary"
	[ -e "$PROGRAMS" ] # built concurrently by another script
}

make_programs() # VERSION KIND FOLDER NAME...
{
	local version=$1 kind=$2 folder=$3 name options
	shift 3

	mapfile -t options < <(kind_options "$kind")
	[ "$kind" != pgo ] || make_profile "$version" "$folder" || return 1
	[ "$kind" != pgo ] || options=("-pgo=$folder/default.pgo")
	for name; do
		if [ "$kind" = debugfile ]; then
			options=("-ldflags=-B 0x$(echo "$version $name" | sha1sum | cut -d' ' -f1)")
		fi
		go_build_target "$version" "$kind" "$folder/$name" "$name" "${options[@]}" || return 1
		[ "$kind" != debugfile ] || split_debug "$folder/$name" || return 1
	done
}

go_build_target() # VERSION KIND FILE NAME OPTION...
{
	local version=$1 kind=$2 file=$3 name=$4 cgo=0 cc=
	shift 4

	[[ $kind != race && $kind != external ]] || cgo=1
	[[ $kind != musl* ]] || cgo=1 cc=musl-gcc
	(cd selftests/targets && CC=$cc CGO_ENABLED=$cgo go_release "$version" build -buildvcs=false -o "$file" \
		"$@" "./$name")
}

# VERSION ARGUMENT...: its go command. 1.19 cannot build when it is located in the module cache that
# it uses.
go_release()
{
	local version=$1 root
	shift

	if [ "$(minor_of "$version")" -gt 19 ]; then
		GOFLAGS='' GOTOOLCHAIN=go$version "${GO:-go}" "$@"
	else
		root=$(GOTOOLCHAIN=go$version "${GO:-go}" env GOROOT) || return 1
		GOFLAGS='' GOMODCACHE=$PROGRAM_CACHE/empty "$root/bin/go" "$@"
	fi
}

# The profile of a program that keeps each of the scheduler's functions busy in turn.
make_profile() # VERSION FOLDER
{
	go_build_target "$1" plain "$2/hot" hot || return 1
	"$2/hot" -profile "$2/default.pgo" -duration 500ms
	rm -f "$2/hot"
	[ -s "$2/default.pgo" ]
}

# A program without symbols or DWARF; both are in the file NAME.debug next to it.
split_debug() # FILE
{
	objcopy --only-keep-debug "$1" "$1.debug" &&
	(cd "$(dirname "$1")" && objcopy --strip-all --add-gnu-debuglink="$(basename "$1").debug" "$1")
}
