#!/bin/bash
# Extracts the struct offsets from every toolchain again; they must equal the table in the tree.
# Downloads and builds with each toolchain that is not cached (see selftests/offsets/extract): half
# an hour the first time.
# tier: long
# timeout: 7200
. "$(dirname "$0")/../lib.sh"

make_again()
{
	selftests/offsets/extract --table >"$tmp/table.c" && diff userspace/target/layout/offsets_table.c "$tmp/table.c"
}

ktap_start 1
try "every toolchain matches the table" make_again
ktap_end
