# Packages of npm at test time; needs programs.lib.sh. They are cached with its programs.

# NAME VERSION FILE SHA256: downloads the package with npm, or with curl if that is missing, and sets NPM_PACKAGE to its
# folder. False if FILE in it has another checksum.
unpack_npm()
{
	local folder=$PROGRAM_CACHE/${1//\//-}-$2 temporary

	NPM_PACKAGE=$folder/package
	[ ! -e "$NPM_PACKAGE/$3" ] || return 0
	mkdir -p "$PROGRAM_CACHE" && temporary=$(mktemp -d "$PROGRAM_CACHE/unpacking.XXXXXX") || return 1
	if command -v npm >/dev/null; then
		(cd "$temporary" && npm pack "$1@$2")
	else
		curl -sSf -o "$temporary/package.tgz" "https://registry.npmjs.org/$1/-/${1##*/}-$2.tgz"
	fi && tar -C "$temporary" -xzf "$temporary"/*.tgz &&
		echo "$4  $temporary/package/$3" | sha256sum -c || return 1
	mv -T "$temporary" "$folder"
}
