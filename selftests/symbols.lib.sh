# Comparison of symbolization; for check/symbols.sh and check/symbols_modes.sh, read after lib.sh.
FRAMES=build/selftests/frames
PCS=0 # number of PCs compared

# GO CGO FILE [FLAG...]: builds the target symbols. The go.mod of the targets requires a newer
# language version than the oldest releases support; this program does not need it.
build_symbols()
{
	local go=$1 cgo=$2 file=$PWD/$3
	shift 3

	sed 's/^go .*/go 1.19/' selftests/targets/go.mod >"$tmp/go.mod" || return 1
	(cd selftests/targets && CGO_ENABLED=$cgo GOTOOLCHAIN=$go "${GO:-go}" build -buildvcs=false \
		-modfile="$OLDPWD/$tmp/go.mod" -o "$file" "$@" ./symbols)
}

# FILE STRIDE [MIN]: for each PC of its text, the frames equal the runtime's. At least MIN different
# ones.
same_as_runtime()
{
	local file=$1 words

	"$file" -stride "$2" >"$tmp/runtime" </dev/null || return 1
	read -ra words <"$tmp/runtime"
	[ "${words[0]}" = text ] && $FRAMES "$file" "${words[@]:1}" >"$tmp/ours" || return 1
	diff "$tmp/runtime" "$tmp/ours" | head -n 20
	PCS=$((PCS + $(sed -n 's/ PCs$//p' "$tmp/runtime")))
	[ "$(wc -l <"$tmp/runtime")" -gt "${3-20000}" ] && cmp "$tmp/runtime" "$tmp/ours"
}

# FILE GO EVERY: function and line of some PCs equal those of `go tool addr2line`, which prints :-1
# for an unknown line. Uses the PCs of same_as_runtime. Only for programs linked by Go's own linker
# (for others addr2line gets the text's address wrong, up to 1.26 at least).
same_as_addr2line()
{
	local vaddr offset

	read -r offset vaddr < <(readelf -lW "$1" | awk '$1 == "LOAD" && / E / { print $2, $3; exit }')
	awk -v every="$3" -v bias=$((vaddr - offset)) -v OFS= 'NF > 2 && $2 != "last" && NR % every == 0 {
		printf "%s %d\n", $1, bias }' "$tmp/runtime" |
	while read -r at bias; do
		printf '0x%x\n' $((16#$at + bias))
	done >"$tmp/addresses"
	GOTOOLCHAIN=$2 "${GO:-go}" tool addr2line "$1" <"$tmp/addresses" |
		sed 's/^:-1$/?:0/' >"$tmp/addr2line" || return 1
	$FRAMES "$1" <"$tmp/addresses" >"$tmp/ours" || return 1
	diff "$tmp/addr2line" "$tmp/ours" | head -n 20
	[ "$(wc -l <"$tmp/ours")" -gt 300 ] && cmp "$tmp/addr2line" "$tmp/ours"
}
