#!/bin/bash
# The table of struct offsets, made again from every toolchain, is the one in the tree. Fetches and builds
# with each toolchain that was not asked before (see selftests/offsets/extract): half an hour the first time.
# timeout: 7200
. "$(dirname "$0")/../lib.sh"

make_again()
{
	selftests/offsets/extract --table >"$tmp/table.c" && diff userspace/target/offsets_table.c "$tmp/table.c"
}

ktap_start 1
try "every toolchain says what the table says" make_again
ktap_end
