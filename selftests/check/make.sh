#!/bin/bash
# Tests the Makefile's user interface: `make help` lists every target and every variable, `make
# compile_commands.json` records how each C file is compiled, and two definitions of a name in the
# library are an error.
# parallel
# timeout: 120
. "$(dirname "$0")/../lib.sh"

phony() # MAKEFILE: its phony targets
{
	sed -n ':a; /\\$/ { N; s/\\\n//; ba }; s/^\.PHONY: //p' "$1" | tr -s ' \t' '\n' | sort
}

listed() # HEADING MAKEFILE: the names that help lists below HEADING
{
	make -s -f "$2" help | sed -n "/^$1.*:$/,/^$/s/^  \([^ ]*\) .*/\1/p" | sort
}

# MAKEFILE: and the files that it includes from the current folder
lists_targets()
{
	listed Targets "$1" >"$tmp/listed" && phony "$1" | diff - "$tmp/listed" && [ "$(wc -l <"$tmp/listed")" -ge 25 ]
}

lists_variables() # those that the environment or the command line may set
{
	local name missing=0

	listed Variables "$1" >"$tmp/listed"
	for name in CC CFLAGS PREFIX DESTDIR KDIR V SAN GO ORACLE_GO TARGET_GOS PARTS PACKAGES \
		$(sed -n 's/^\([A-Z_]*\) *?=.*/\1/p' "$1"); do
		grep -qx "$name" "$tmp/listed" || { echo "not listed: $name"; missing=1; }
	done
	while read -r name; do
		grep -qE "\\\$\\($name\\)|^$name *[?:]?=|\(if \\$\($name\)|ifdef $name" "$1" ||
			{ echo "listed but not used: $name"; missing=1; }
	done <"$tmp/listed"
	return $missing
}

# Each of these has a default that help shows.
shows_defaults()
{
	local name names value

	names=(CC CFLAGS PREFIX GO ORACLE_GO TARGET_GOS MUTANTS SEED FUZZ_TIME FIDELITY_GOS)
	make -s help >"$tmp/help" && make -s "${names[@]/#/print-}" >"$tmp/defaults" || return 1
	for name in "${names[@]}"; do
		read -r value <&3 && [ -n "$value" ] && grep "^  $name " "$tmp/help" | grep -qF "[$value]" || { echo "no default for $name"; return 1; }
	done 3<"$tmp/defaults"
}

finds() # WHAT MAKEFILE-LINE: a makefile with this additional line fails the check
{
	{ cat Makefile; printf '%s\n' "$2"; } >"$tmp/Makefile"
	! "lists_$1" "$tmp/Makefile"
}

# Each target of help runs in a script, by its name or by its command; the runner builds and has the tiers.
runs_targets() # MAKEFILE
{
	local target command missing=0

	for target in $(phony "$1"); do
		case $target in
		clean | help) ;; # other scripts need what clean removes
		all | unit | mutants-unit | kselftests | targets | reference | fuzzers | check | check-*) ;;
		*)
			command=$(sed -n "/^$target:/,/^\$/s/^.*[@+]\(selftests\/[a-z/]*\).*/\1/p" "$1" | grep -v -e deps -e 'selftests/run' | head -n 1)
			grep -qE "\<ma[dk]e .*\<$target\>|${command:-NONE}\>" selftests/check/*.sh || { echo "no script runs make $target"; missing=1; }
			;;
		esac
	done
	return $missing
}

finds_idle()
{
	local name=idle_$RANDOM # which is nowhere in a script

	{ cat Makefile; printf '.PHONY: %s\n%s: ## text\n\t@selftests/%s\n' $name $name $name; } >"$tmp/Makefile"
	! runs_targets "$tmp/Makefile" >"$tmp/idle" && [ "$(cat "$tmp/idle")" = "no script runs make $name" ]
}

database()
{
	make -s compile_commands.json && [ "$(make -s print-LIB_SRCS | wc -w)" -ge 190 ] &&
		jq -e 'all(.[]; .directory and .file and .command)' compile_commands.json &&
		jq -r '.[].file' compile_commands.json | grep '^userspace/' | sort >"$tmp/described" &&
		make -s print-LIB_SRCS print-TOOL_SRCS print-OFFLINE_SRCS | tr ' ' '\n' | sort | diff - "$tmp/described"
}

compiles() # each file compiles with its recorded command
{
	local command

	command=$(jq -r '.[] | select(.file == "userspace/lib/map.c").command' compile_commands.json)
	[ -n "$command" ] && eval "${command% -o *} -o $tmp/map.o" && [ -s "$tmp/map.o" ]
}

# SOURCE...: makes a library of these files
library()
{
	make --no-print-directory OUT="$tmp/library" LIB_SRCS="$*" lib
}

two_definitions()
{
	echo 'void map__free(void *map); void map__free(void *map) {}' >"$tmp/planted.c"
	! library userspace/lib/map.c "$tmp/planted.c" >"$tmp/out" 2>&1 &&
		grep -F 'multiple definition of `map__free' "$tmp/out" && [ ! -e "$tmp/library/libgotrace.a" ]
}

# On a machine with git and make only, the first command of the README installs the rest: so nothing but the shell and
# make is needed to begin.
begins_without_tools()
{
	mkdir "$tmp/bin" && ln -s "$(command -v make)" "$(command -v sh)" "$(command -v uname)" "$tmp/bin/" || return 1
	env -i "PATH=$PWD/$tmp/bin" make -n demo >"$tmp/begins" 2>&1
	grep -m1 -n 'selftests/deps.sh' "$tmp/begins" && ! grep 'Stop\.' "$tmp/begins"
}

ktap_start
try "make help lists each target" lists_targets Makefile
try "make help lists each variable" lists_variables Makefile
try "make help shows the defaults" shows_defaults
try "an unlisted target is found" finds targets '.PHONY: planted'
try "each target runs in a script" runs_targets Makefile
try "a target that no script runs is found" finds_idle
try "an unlisted variable is found" finds variables 'PLANTED ?= 1'
try "compile_commands.json has each C file of userspace" database
try "the recorded commands compile" compiles
try "a library of one file builds" library userspace/lib/map.c
try "two definitions of a name in the library are an error" two_definitions
try "make demo begins on a machine without a compiler" begins_without_tools
ktap_end
