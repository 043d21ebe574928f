#!/bin/bash
# depends on: Makefile bpf include userspace
# Both programs are hardened, which is read from them. The same is read from a small program that is built
# with the same flags, and must not be found if any one of them is left out.
. "$(dirname "$0")/../lib.sh"

flags_of() { make -s "print-$1"; }

position_independent() { readelf -hW "$1" | grep -q 'Type: *DYN' && readelf -dW "$1" | grep -q 'FLAGS_1.*PIE'; }
relocated_read_only() { readelf -lW "$1" | grep -q GNU_RELRO; }
bound_at_start() { readelf -dW "$1" | grep -q 'FLAGS_1.*NOW'; }
stack_protector() { nm -D "$1" | grep -q '__stack_chk_fail'; }

# memset() and others have sizes that are known at run time only, which lower levels do not check.
fortified() { nm -D "$1" | grep -qE '__mem(set|cpy|move)_chk'; }

# A frame of more than a page is touched page by page.
stack_clash() { objdump -d --no-show-raw-insn "$1" | grep -qE 'orq? +\$0x0,\(%rsp\)'; }

# The linker notes control-flow protection, and most functions begin with endbr64.
branch_targets() { readelf -nW "$1" 2>/dev/null | grep -q 'IBT'; }
shadow_stacks() { readelf -nW "$1" 2>/dev/null | grep -q 'SHSTK'; }
branch_starts()
{
	objdump -d --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <[a-z][a-z_]*(__[a-z_]+|main)>:$/ { n++; getline; begin += /endbr64/ }
		END { print n " functions, " begin " begin with endbr64"; exit !(n && begin * 2 > n) }'
}

checks="position_independent relocated_read_only bound_at_start stack_protector fortified"
[ "$(uname -m)" != x86_64 ] || checks+=" stack_clash branch_targets shadow_stacks branch_starts"

hardened() # PROGRAM
{
	local check

	for check in $checks; do
		$check "$1" || { echo "$1: $check"; return 1; }
	done
}

write_small()
{
	cat >"$tmp/small.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>

		__attribute__((noinline)) void small__print(const char *text)
		{
			char line[20000];

			snprintf(line, sizeof(line), "%s", text);
			puts(line);
		}

		int main(int argc, char **argv)
		{
			char *text = calloc(strlen(argv[0]) + 1, 1);

			memset(text, 'a', (size_t)argc);
			small__print(text);
			return 0;
		}
	END
}

# What a compiler may do by default is switched off first.
build_small() # FLAG...
{
	local off=(-fno-pie -no-pie -fno-stack-protector -fno-stack-clash-protection -U_FORTIFY_SOURCE
		'-Wl,-z,norelro' '-Wl,-z,lazy')

	[ "$(uname -m)" != x86_64 ] || off+=(-fcf-protection=none)
	gcc -O2 "${off[@]}" "$@" "$tmp/small.c" -o "$tmp/small"
}

each_flag_counts()
{
	local all flag others rest

	read -ra all <<<"$(flags_of HARDENING) $(flags_of FORTIFY) $(flags_of LINK_HARDENING)"
	write_small && build_small "${all[@]}" && hardened "$tmp/small" || return 1
	for flag in "${all[@]}"; do
		case $flag in
		-U*) continue ;;
		-fPIE | -pie) others=(-pie -fPIE) ;; # neither links without the other
		*) others=("$flag") ;;
		esac
		mapfile -t rest < <(printf '%s\n' "${all[@]}" | grep -vxF -e "$(printf '%s\n' "${others[@]}")")
		[ ${#rest[@]} -eq $((${#all[@]} - ${#others[@]})) ] && build_small "${rest[@]}" || return 1
		if hardened "$tmp/small" >"$tmp/why"; then
			# The start files of some distributions have these notes already.
			[ "$flag" = '-Wl,-z,ibt' ] || [ "$flag" = '-Wl,-z,shstk' ] || { echo "without $flag nothing is missing"; return 1; }
			continue
		fi
		echo "without $flag: $(tail -n 1 "$tmp/why")"
	done
}

without_lto()
{
	make -s -j"$(nproc)" LTO= OUT=build/plain build/plain/gotrace build/plain/gotrace-bpf &&
		hardened build/plain/gotrace && hardened build/plain/gotrace-bpf
}

# OBJECT...: each program of a uprobe in them contains a tail call (bpf/kernel_stack.bpf.h). Those whose functions have
# stacks of less than 64 bytes need none: the program of hits.bpf.c.
on_the_kernels_stack()
{
	python3 - "$@" <<-'EOF'
		import struct, sys
		programs, without = 0, []
		for path in sys.argv[1:]:
		    elf = open(path, "rb").read()
		    at, size, n = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HH", elf, 58)
		    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(n)]
		    text = lambda table, i: elf[sections[table][4] + i:].split(b"\0", 1)[0].decode()
		    names = [text(struct.unpack_from("<H", elf, 62)[0], s[0]) for s in sections]
		    symbols = next(s for s in sections if s[1] == 2)
		    for i in range(symbols[5] // 24):
		        name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", elf, symbols[4] + 24 * i)
		        if info & 15 != 2 or not 0 < section < n or names[section] != "uprobe.multi":
		            continue
		        programs += 1
		        code = elf[sections[section][4] + value:][:length]
		        calls = [struct.unpack_from("<I", code, k + 4)[0] for k in range(0, len(code), 8) if code[k] == 0x85 and not code[k + 1] >> 4]
		        if 12 not in calls: # BPF_FUNC_tail_call
		            without.append(text(symbols[6], name))
		print(programs, "programs, without a tail call:", without)
		sys.exit(without != [] or not programs)
	EOF
}

programs_of_uprobes()
{
	local objects=(build/bpf/{goroutine,heap,request,runtime,user}.bpf.o)

	on_the_kernels_stack "${objects[@]}" && ! on_the_kernels_stack build/bpf/hits.bpf.o &&
		[ "$(grep -l 'SEC("uprobe.multi")\|EMIT_PROBE(' bpf/*.bpf.c | grep -vc hits)" -eq ${#objects[@]} ]
}

ktap_start
try "programs of uprobes have the kernel's stack" programs_of_uprobes
try "gotrace" hardened build/gotrace
try "gotrace-bpf" hardened build/gotrace-bpf
try "each flag counts" each_flag_counts
in_all try "without link-time optimization" without_lto
ktap_end
