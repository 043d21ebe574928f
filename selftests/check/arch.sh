#!/bin/bash
# Checks that only files named *_x86* depend on the architecture: registers, instruction kinds,
# machine code, ELF machine types and relocations. Comments and tests may name them.
# parallel
# timeout: 60
. "$(dirname "$0")/../lib.sh"

general='ARG[1-9]|G|SP|FP|GOBUF|CAS_OLD|BARRIER_TO|COUNT|NONE' # registers by role: target/arch/arch.h
patterns=(
	"\bGPR_(?!($general)\b)\w+" '\bZ[yY][dD][iI][sS]\w*' '\b(EM|R)_X86_64\w*'
	'\b[re](ax|bx|cx|dx|si|di|bp|sp|ip)\b' '\br(8|9|1[0-5])\b'
	'\b(ctx|regs)->([abcd]x|[sd]i|[sb]p|ip|cs|flags|orig_ax)\b' 'REGISTER\(\w+, (?!name\b)[a-z]'
	'\bINSN_(PUSH_BP|SETZ|TEST|XADD|SUM)\b' '\b0x(cc|90)\b' '1ull << 47' '\b_mm_' '\bunistd_64'
)

offences() # FILE...: prints the lines that match a pattern, without comments
{
	local file all
	all=$(IFS='|' && echo "${patterns[*]}")

	grep -lP -- "$all" "$@" | while read -r file; do
		gcc -fpreprocessed -dD -E -P -x c "$file" 2>/dev/null | grep -P -- "$all" |
			sed "s|^|$file: |"
	done
}

sources_are_general()
{
	local files
	mapfile -t files < <(find userspace bpf include -name '*.[ch]' ! -name '*_x86.*')

	[ ${#files[@]} -gt 300 ] || return 1
	offences "${files[@]}" >"$tmp/offences"
	cat "$tmp/offences"
	[ ! -s "$tmp/offences" ]
}

# Each pattern matches a line of one of the files that may have it, or of this list.
patterns_detect()
{
	local pattern

	printf '%s\n' 'x = r14;' '1ull << 47' '#include <asm/unistd_64.h>' 'asm("mov %rax");' >"$tmp/more"
	for pattern in "${patterns[@]}"; do
		find userspace bpf -name '*_x86.*' -print0 | xargs -0 grep -qP -- "$pattern" "$tmp/more" ||
			{ echo "nothing matches $pattern"; return 1; }
	done
}

ktap_start 2
try "no other file depends on the architecture" sources_are_general
try "each pattern matches something" patterns_detect
ktap_end
