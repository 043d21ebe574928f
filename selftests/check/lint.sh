#!/bin/bash
# Runs the static checks of selftests/lint, and proves that each of them detects a fault planted in
# a folder of its own.
# tier: all
# parallel: first
# timeout: 600
. "$(dirname "$0")/../lib.sh"

lint=$PWD/selftests/lint

passes() # CHECK
{
	ORACLE_GO=$ORACLE_GO "$lint" "$1"
}

# CHECK PATTERN FILE: in a tree with only FILE, a copy of $tmp/content, the check fails and prints a
# line that matches PATTERN
finds()
{
	local tree=$tmp/tree status

	rm -rf "$tree"
	mkdir -p "$tree/$(dirname "$3")" && cp "$tmp/content" "$tree/$3" && cp .clang-format .shellcheckrc Makefile "$tree/" || return 1
	[ "$1" != vet ] || printf 'module planted\n\ngo 1.21\n' >"$tree/$(dirname "$3")/go.mod"
	(cd "$tree" && ORACLE_GO=$ORACLE_GO "$lint" "$1") >"$tmp/found" 2>&1
	status=$?
	cat "$tmp/found"
	[ $status -eq 1 ] && grep -qE "$2" "$tmp/found"
}

planted() # NAME CHECK PATTERN FILE < CONTENT
{
	cat >"$tmp/content"
	try "$1" finds "${@:2}"
}

ktap_start
try "the tools are installed" locked selftests/deps.sh $(make_variable LINT_PACKAGES)
for check in format shell gofmt vet manuals; do
	try "$check" passes $check
done
planted "C that is not formatted" format 'code should be clang-formatted' userspace/x.c <<'END'
int  wrong( void ) { return 0; }
END
planted "a fault in a script" shell 'SC2164' selftests/x.sh <<'END'
#!/bin/bash
cd /nowhere
echo here
END
planted "a fault in a script without a suffix" shell 'SC2068' selftests/x <<'END'
#!/bin/bash
ls $@
END
planted "Go that is not formatted" gofmt 'x\.go: not formatted by gofmt' selftests/targets/x.go <<'END'
package   x
END
planted "a fault in Go" vet 'Printf format %d has arg' selftests/targets/x.go <<'END'
package x

import "fmt"

func X() { fmt.Printf("%d\n", "x") }
END
planted "a fault of a manual's markup" manuals 'mandoc: .*WARNING' userspace/man/x.1 <<'END'
.TH X 1 "2026-11-22" "x" "x"
.SH NAME
x \- planted
.SH
END
planted "what man cannot render" manuals 'x\.1: .*warning' userspace/man/x.1 <<'END'
.TH X 1 "2026-11-22" "x" "x"
.SH NAME
x \- planted
.PP
\[nosuchglyph]
END
ktap_end
