#!/bin/bash
# record --region with the names that stacks show: instances of generic functions are regions of that name,
# as often as the program counts; a hint for a wrapper; programs without section headers.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

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

ktap_start
PROGRAM=build/targets/$ORACLE_GO/generics
try "instances of generic functions" instances
try "a wrapper of a method" refused "use main.value.run, which it calls" --region 'main.(*value).run'
try "no such generic function" refused "the program has no function main.none[...]" --region 'main.none[...]'
try "a program without section headers" without_sections
ktap_end
