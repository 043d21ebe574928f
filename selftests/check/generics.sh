#!/bin/bash
# record --region with the names that stacks show: instances of generic functions are regions of that name,
# as often as the program counts; a hint for a wrapper; programs without section headers.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

instances()
{
	record_target generics "$ORACLE_GO" "--region main.gen[...] --region main.(*box[...]).open" &&
		build/gotrace regions --json "$RECORDED" | jq -S '.regions | map({(.name): .count}) | add' >"$tmp/regions" &&
		jq -S . "$tmp/generics.done" | diff "$tmp/regions" -
}

refused() # REASON OPTION...
{
	local reason=$1
	shift
	! timeout 30 $GOTRACE record -o "$tmp/no.trace" "$@" -- "$PROGRAM" </dev/null >/dev/null 2>"$tmp/err" &&
		grep -qF -- "$reason" "$tmp/err" && return
	cat "$tmp/err"
	return 1
}

# The program as it is after sstrip: e_shoff, e_shnum and e_shstrndx are 0.
without_sections()
{
	cp "$PROGRAM" "$tmp/bare" && printf '\0\0\0\0\0\0\0\0' | dd of="$tmp/bare" bs=1 seek=40 conv=notrunc status=none &&
		printf '\0\0\0\0' | dd of="$tmp/bare" bs=1 seek=60 conv=notrunc status=none && ! $GOTRACE probes --exe "$tmp/bare" 2>"$tmp/err" &&
		cat "$tmp/err" && grep -q 'section headers were removed' "$tmp/err" && ! grep -q 'packed' "$tmp/err"
}

# Go 1.27 has generic methods: those of generic types have two pairs of brackets in their names. The frames are
# also those of the program's own trace.
generic_methods()
{
	local go=go${LAST_GOS##* }

	mkdir "$tmp/methods" && cat >"$tmp/methods/main.go" <<-'EOF' || return 1
		package main

		import (
			"os"
			"runtime/trace"
			"time"
		)

		type box[T any] struct{ v T }

		//go:noinline
		func (b *box[T]) convert[U any](f func(T) U) U {
			time.Sleep(time.Millisecond)
			return f(b.v)
		}

		func main() {
			out, err := os.Create(os.Args[1])
			if err != nil || trace.Start(out) != nil {
				os.Exit(1)
			}
			for i := 0; i < 20; i++ {
				(&box[int]{i}).convert(func(i int) string { return "" })
				(&box[string]{""}).convert(func(s string) []int { return nil })
			}
			trace.Stop()
		}
	EOF
	(cd "$tmp/methods" && printf 'module methods\ngo 1.27\n' >go.mod && CGO_ENABLED=0 GOTOOLCHAIN=$go go build -buildvcs=false -o methods .) &&
		$GOTRACE record -o "$tmp/methods.trace" --region 'main.(*box[...]).convert[...]' -- "$tmp/methods/methods" "$tmp/own.trace" || return 1
	build/gotrace regions --json "$tmp/methods.trace" | jq -e '.regions | map([.name, .count]) == [["main.(*box[...]).convert[...]", 40]]' &&
		frames_of "$tmp/methods.trace" | grep 'convert\[\.\.\.\]' && [ "$(frames_of "$tmp/methods.trace")" = "$(frames_of "$tmp/own.trace")" ]
}

frames_of() # TRACE: functions of main that block
{
	build/gotrace events --type GoBlock --stacks --json "$1" | grep -o '"func":"main\.[^"]*"' | sort -u
}

ktap_start
PROGRAM=build/targets/$ORACLE_GO/generics
try "instances of generic functions" instances
try "generic methods of generic types" generic_methods
try "a wrapper of a method" refused "use main.value.run, which it calls" --region 'main.(*value).run'
try "no such generic function" refused "the program has no function main.none[...]" --region 'main.none[...]'
try "a program without section headers" without_sections
ktap_end
