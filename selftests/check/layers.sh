#!/bin/bash
# Checks that the folders of userspace depend on each other in one direction: a file includes
# headers of its own folder and of folders that come earlier in LIB_DIRS of the Makefile; the two
# commands include all of the library, but not each other; a folder of gotrace with some of its
# commands (OFFLINE_DIRS) also includes gotrace. No folder has more than 60 C files, each
# folder is built, and a unit test lies in the folder of the same name as the code it tests.
# parallel
# timeout: 60
. "$(dirname "$0")/../lib.sh"

most_files=60
layers=$(make -s print-LIB_DIRS)
commands='gotrace gotrace-bpf'
subfolders=$(make -s print-OFFLINE_DIRS | tr ' ' '\n' | grep /)

# Prints "FILE: HEADER" for each include of a later folder, of an unknown one, or by a relative
# path. include/ is searched before userspace/, as in INCLUDES of the Makefile.
wrong_includes() # TREE
{
	(cd "$1" && find userspace include -name '*.[ch]' | sort | awk -v layers="$layers" -v commands="$commands" -v subfolders="$subfolders" '
	function folder(path) {
		return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : ""
	}
	function program(path) {
		sub(/\/.*/, "", path)
		return path
	}
	BEGIN {
		n = split(layers, names, " ")
		for (i = 1; i <= n; i++)
			rank[names[i]] = i
		m = split(commands, names, " ")
		for (i = 1; i <= m; i++)
			rank[names[i]] = n + 1
		m = split(subfolders, names, /[ \n]/)
		for (i = 1; i <= m; i++)
			rank[names[i]] = n + 2
	}
	{
		exists[$0] = 1
		files[NR] = $0
	}
	END {
		for (i = 1; i <= NR; i++) {
			own = folder(substr(files[i], 11))
			if (files[i] !~ /^userspace\//)
				continue
			while ((getline line <files[i]) > 0) {
				if (line !~ /^[ \t]*#[ \t]*include[ \t]*"/)
					continue
				split(line, parts, "\"")
				header = parts[2]
				of = folder(header)
				if (header ~ /\.skel\.h$/ || header == "format/syscalls.h" || exists["include/" header] ||
				    of == "" && exists[folder(files[i]) "/" header])
					# generated, shared with the kernel, or in the same folder
					continue
				if (!rank[of] || !rank[own] || of != own && (rank[of] >= rank[own] ||
				    rank[of] > n && program(of) != program(own)))
					print files[i] ": " header
			}
			close(files[i])
		}
	}')
}

full_folders() # TREE: prints the folders with too many C files
{
	find "$1/userspace" -name '*.[ch]' -printf '%h\n' | sort | uniq -c | awk -v most=$most_files '$1 > most'
}

unknown_folders() # TREE: prints the folders with C files that belong to neither program
{
	find "$1/userspace" -name '*.[ch]' -printf '%h\n' | sed 's,.*userspace/,,' | sort -u |
		grep -vxF "$(printf '%s\n' $layers $commands $subfolders)"
}

# Prints the unit tests in folders that userspace does not have, and those that are not built. Tests
# at the top cover several folders.
stray_tests() # TREE
{
	local file folder

	while read -r file; do
		folder=$(dirname "${file#"$1/selftests/unit/"}")
		[ "$folder" = . ] || [[ " $layers " == *" $folder "* && -d $1/userspace/$folder ]] || echo "$file"
	done < <(find "$1/selftests/unit" -name '*.c')
}

none() # COMMAND...: succeeds if it prints nothing
{
	"$@" >"$tmp/printed"
	cat "$tmp/printed"
	[ ! -s "$tmp/printed" ]
}

all_built()
{
	local tests

	tests=$(find selftests/unit -name 'test_*.c' | sed 's,^selftests/unit/,,; s,\.c$,,' | sort)
	[ "$(make -s print-UNIT_TESTS | tr ' ' '\n' | sort)" = "$tests" ]
}

copied() # copies the files that are checked
{
	mkdir "$tmp/tree" && cp -a --parents userspace include selftests/unit "$tmp/tree/" && [ -z "$(wrong_includes "$tmp/tree")" ]
}

# FILE HEADER: the include is added in the copy, and it alone is reported
finds_include()
{
	cp -a "$1" "$tmp/saved" && echo "#include \"$2\"" >>"$tmp/tree/$1" && wrong_includes "$tmp/tree" >"$tmp/found"
	cp -a "$tmp/saved" "$tmp/tree/$1"
	cat "$tmp/found"
	[ "$(cat "$tmp/found")" = "$1: $2" ]
}

finds_a_full_folder()
{
	local i

	for ((i = 0; i <= most_files; i++)); do
		: >"$tmp/tree/userspace/rawfile/planted$i.c"
	done
	full_folders "$tmp/tree" | tee "$tmp/found"
	[ "$(wc -l <"$tmp/found")" -eq 1 ] && grep -q '/rawfile$' "$tmp/found"
}

finds_strays()
{
	mkdir "$tmp/tree/userspace/none" "$tmp/tree/selftests/unit/other" && : >"$tmp/tree/userspace/none/none.c" &&
		: >"$tmp/tree/selftests/unit/other/test_other.c" && [ "$(unknown_folders "$tmp/tree")" = none ] &&
		[ "$(stray_tests "$tmp/tree")" = "$tmp/tree/selftests/unit/other/test_other.c" ]
}

ktap_start
try "includes go in one direction" none wrong_includes .
try "no folder has more than $most_files C files" none full_folders .
try "each folder is built" none unknown_folders .
try "unit tests are in the folder of the code that they test" none stray_tests .
try "each unit test is built" all_built
try "a copy of the tree" copied
try "a header of a later folder is found" finds_include userspace/format/spec.c writer/writer.h
try "a header of a command in the library is found" finds_include userspace/reader/reader.c gotrace/command.h
try "a header of the other command is found" finds_include userspace/gotrace-bpf/record.c gotrace/at.h
try "a header of a part of a command in the command is found" finds_include userspace/gotrace/open.c gotrace/views/profile.h
try "a header of the other command in a part is found" finds_include userspace/gotrace/views/profile.c gotrace-bpf/stats.h
try "a header by a relative path is found" finds_include userspace/lib/map.c ../format/spec.h
try "an include in a header is found" finds_include userspace/target/elf/elf.h target/probe/site.h
try "a folder with too many files is found" finds_a_full_folder
try "a folder that is not built, and its test, are found" finds_strays
ktap_end
