#!/bin/bash
# Checks that every path of this tree that a comment, a document, a manual, a script or a makefile
# cites exists: paths from the top ("userspace/reader/order.c", "docs/"), paths from a folder below
# it ("reader/order.c") and bare file names ("order.c", which must be in the citing file's part of
# the tree). "*", "%" and "{a,b}" are patterns; so is a word in capitals, such as NAME, unless a
# file of that name exists.
# parallel
# timeout: 120
. "$(dirname "$0")/../lib.sh"

tops='userspace bpf kmod include selftests docs fleet .ci .github'
# Paths of the sources of the kernel, of C libraries, and of package runtime/cgo
foreign='^(include/linux|arch/x86|fs|kernel|tools/testing|tools/lib|nptl|sysdeps|ldso|src/env|src/internal|cgo)/'
foreign+='|^(gcc_[a-z0-9_]+|pthread_[a-z]+)[.]c$'
# Build results, and files that tests create for themselves
made='((\\.skel\\.h|(^|/)syscalls\\.h|/gotrace\\.ko)$|^userspace/format/lib\\.c$)'

citing() # every text file of the project in the current folder; except this one and lint.sh, which plant paths
{
	find Makefile Kbuild dkms.conf ./*.md $tops \
		-type f ! -name go.sum ! -name '*.ko' ! -path selftests/check/paths.sh \
		! -path selftests/check/lint.sh -print 2>/dev/null | sed 's,^\./,,' | sort
}

# Prints "FILE:LINE: TOKEN" for each word of comments and documents that looks like a path
citations() # FILE...
{
	awk '
	function tokens(text, pattern, own,    token, before, after) {
		while (match(text, pattern)) {
			before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
			token = substr(text, RSTART, RLENGTH)
			after = substr(text, RSTART + RLENGTH, 1)
			text = substr(text, RSTART + RLENGTH)
			if (token !~ /\{/) {
				sub(/}.*/, "*", token)
				sub(/,.*/, "", token)
			}
			sub(/[.,-]+$/, "", token)
			if (token != "" && before !~ /[A-Za-z0-9_.\/$)}~\\<@-]/ && (own || after !~ /[A-Za-z0-9_(\/$]/))
				print FILENAME ":" FNR ": " token
		}
	}
	function comment(line,    text, end, start) { # of C and Go
		gsub(/\\./, "", line)
		text = ""
		for (;;) {
			if (inside) {
				end = index(line, "*/")
				if (!end)
					return text " " line
				text = text " " substr(line, 1, end - 1)
				line = substr(line, end + 2)
				inside = 0
			} else if (match(line, /"[^"]*"|\047[^\047]*\047|`[^`]*`|\/\/|\/\*/)) {
				start = substr(line, RSTART, 2)
				line = substr(line, RSTART + (start ~ /^\// ? 2 : RLENGTH))
				if (start == "//")
					return text " " line
				inside = start == "/*"
			} else
				return text
		}
	}
	FNR == 1 {
		inside = 0
		kind = FILENAME ~ /\.(c|h|go)$/ ? "code" : FILENAME ~ /\.(md|[1-9])$/ ? "text" : "script"
	}
	{
		line = $0
		if (kind == "code")
			line = comment(line)
		gsub(/\\-/, "-", line)
		gsub(/\\f[BIR]/, "", line)
		tokens(line, "(userspace|bpf|kmod|selftests|include|docs)/[A-Za-z0-9_.\/*%{},-]*", 1)
		if (kind == "script" && !match(line, /(^|[ \t])#+ .*/))
			next
		if (kind == "script")
			line = substr(line, RSTART)
		tokens(line, "[A-Za-z0-9_.\/*%-][A-Za-z0-9_.\/*%{},-]*\\.(c|h|go|sh|md)", 0)
	}' "$@" | sort -u
}

# Lists the citations of missing files, in the tree of the current folder
stale() # SCRATCH: a folder
{
	local goroot

	goroot=$(GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" env GOROOT) || return 1
	citations $(citing | xargs grep -lI .) >"$1/cited"
	{
		find $tops Makefile Kbuild dkms.conf LICENSE ./*.md | sed 's,^\./,,'
		(cd "$goroot" && find src -name '*.go' | sed 's,^,GO/,')
		(cd /usr/include && find . -maxdepth 3 -name '*.h' | sed 's,^\.,SYSTEM,; s,/x86_64-linux-gnu,,')
	} >"$1/exists" 2>/dev/null
	awk -v foreign="$foreign" -v made="$made" '
	# True if a bare file name may refer to a file in that folder of the top
	function near(top, name,    i, n, parts, where) {
		where = "userspace bpf kmod include selftests docs ."
		if (top ~ /^(userspace|kmod)$/)
			where = top " include"
		else if (top == "bpf")
			where = "bpf userspace include"
		n = split(where " GO SYSTEM", parts, " ")
		for (i = 1; i <= n; i++)
			if ((parts[i], name) in at)
				return 1
		return 0
	}
	function matches(token,    name, list) {
		if (token !~ /[A-Z*%{]/)
			return 0
		gsub(/\./, "\\.", token)
		gsub(/[*%]+|[A-Z]+/, "[^/]*", token)
		while (match(token, /\{[^}]*\}/)) {
			list = substr(token, RSTART + 1, RLENGTH - 2)
			gsub(/,/, "|", list)
			token = substr(token, 1, RSTART - 1) "(" list ")" substr(token, RSTART + RLENGTH)
		}
		for (name in exists)
			if (name ~ "(^|/)" token "$")
				return 1
		return 0
	}
	FILENAME == ARGV[1] {
		exists[$0] = 1
		top = name = $0
		if (!sub(/\/.*/, "", top))
			top = "."
		known[name] = 1
		while (sub(/^[^\/]*\//, "", name) && top != "SYSTEM")
			known[name] = 1
		if (top == "SYSTEM")
			known[substr($0, 8)] = 1
		sub(/.*\//, "", name)
		at[top, name] = 1
		next
	}
	{
		top = $1
		sub(/[\/:].*/, "", top)
		token = $2
		while (sub(/^\.\.\//, "", token)) ;
		if (token ~ /^(\/|\.|build\/|\*\.)/ || token ~ foreign || token ~ made)
			next
		whole = token ~ /\//
		sub(/\/$/, "", token)
		if (!(token in known && (whole || near(top, token)) || matches(token)))
			print $1, $2
	}' "$1/exists" "$1/cited"
}

nothing_stale()
{
	[ "$(citing | wc -l)" -ge 900 ] && stale "$tmp" >"$tmp/stale" && [ "$(wc -l <"$tmp/cited")" -ge 2000 ] || return 1
	cat "$tmp/stale"
	[ ! -s "$tmp/stale" ]
}

# FILE LINE TOKEN: adds LINE in a copy of the tree; TOKEN alone is reported
finds()
{
	cp "$1" "$tmp/saved" && printf '%s\n' "$2" >>"$tmp/tree/$1" || return 1
	(cd "$tmp/tree" && stale "$scratch") >"$tmp/found"
	cp "$tmp/saved" "$tmp/tree/$1"
	cat "$tmp/found"
	[ "$(sed 's/:[0-9]*:/:/' "$tmp/found")" = "$1: $3" ]
}

copied()
{
	scratch=$PWD/$tmp/scratch
	mkdir "$tmp/tree" "$scratch" && cp -a Makefile Kbuild dkms.conf ./*.md $tops "$tmp/tree/" &&
		(cd "$tmp/tree" && stale "$scratch") >"$tmp/found" && [ ! -s "$tmp/found" ]
}

ktap_start
if try "no citation is stale" nothing_stale && try "a copy of the tree" copied; then
	try "a bare name in C" finds userspace/reader/reader.c '/* See no_such.c. */' no_such.c
	in_all try "a bare name that only another part has" finds userspace/reader/reader.c '// see kfuncs.c' kfuncs.c
	in_all try "a path below a folder" finds userspace/reader/reader.c '/* trace/text.c draws from it */' trace/text.c
	in_all try "a path from the top" finds kmod/ring.c '/* userspace/capture/none.h */' userspace/capture/none.h
	try "in a document" finds docs/design.md 'The file `userspace/reader/none.c`.' userspace/reader/none.c
	in_all try "a folder, in a document" finds README.md 'In docs/none/, for example.' docs/none/
	in_all try "in a manual" finds userspace/man/gotrace.1 'See docs/no\-such.md.' docs/no-such.md
	in_all try "in a script" finds selftests/demo.sh '. selftests/none.lib.sh' selftests/none.lib.sh
	in_all try "in a comment of a script" finds selftests/demo.sh '# as none.lib.sh does' none.lib.sh
	in_all try "in the makefile" finds Makefile 'x: userspace/none/%.c' userspace/none/%.c
	in_all try "in Go" finds selftests/targets/tiny/main.go '// as userspace/none.c' userspace/none.c
fi
ktap_end
