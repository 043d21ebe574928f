# Comparison of `gotrace diff` with selftests/reference/cmd/diff. Read after reader.lib.sh.

agrees() # A B
{
	local per

	for per in second request; do
		timeout 300 $REFERENCE/diff -per $per $READER "$1" "$2" || return 1
		timeout 300 $REFERENCE/diff -per $per -slices 7 $READER "$1" "$2" || return 1
	done
}
