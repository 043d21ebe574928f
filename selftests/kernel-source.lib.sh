# Debian's kernel source, unpacked outside the tree; read after lib.sh. It comes from the package
# linux-source-6.12, which is downloaded if it is not installed.
#
#     source=$(kernel_source) || echo "$source"    # its folder, or an error
#
# The folder is shared: hold kernel_source_locked() to write to it.

KS_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-selftests/kernel-source
KS_PACKAGE=linux-source-6.12
KS_TAR=usr/src/$KS_PACKAGE.tar.xz

# Not needed for user-mode Linux or the tests: half of 1.7 GB.
KS_UNUSED=("$KS_PACKAGE/arch/[!ux]*."{[chS],dts,dtsi} "$KS_PACKAGE/drivers/gpu/drm/*.[ch]"
	"$KS_PACKAGE/Documentation/*.rst")

kernel_source_locked() # COMMAND...: exclusive among all trees on this machine
{
	local status

	mkdir -p "$KS_CACHE" || return 1
	exec 7>"$KS_CACHE/lock"
	flock 7
	"$@" 7>&-
	status=$?
	exec 7>&-
	return $status
}

kernel_source() # without the lock if it is there: a build of another script may hold it for minutes
{
	local version

	if version=$(ks_version) && [ -e "$KS_CACHE/$version" ]; then
		echo "$KS_CACHE/$version"
	else
		kernel_source_locked ks_source
	fi
}

ks_version() # of the installed package, or of the one available
{
	local version

	version=$(dpkg-query -W -f='${Version}' "$KS_PACKAGE" 2>/dev/null)
	[ -n "$version" ] || version=$(apt-cache policy "$KS_PACKAGE" |
		awk '/Candidate:/ && $2 != "(none)" { print $2 }')
	[ -n "$version" ] && echo "$version"
}

ks_source()
{
	local version folder temporary

	if ! version=$(ks_version); then
		apt-get -q update >"$KS_CACHE/log" 2>&1
		version=$(ks_version) || { echo "no package $KS_PACKAGE"; return 1; }
	fi
	folder=$KS_CACHE/$version
	if [ ! -e "$folder" ]; then
		find "$KS_CACHE" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} + # older ones, or incomplete ones
		temporary=$(mktemp -d "$KS_CACHE/making.XXXXXX") || return 1
		if ! ks_unpack "$version" "$temporary" >"$KS_CACHE/log" 2>&1; then
			echo "$KS_PACKAGE $version: $(grep -v '^W:' "$KS_CACHE/log" | tail -n 1)"
			rm -rf "$temporary"
			return 1
		fi
		chmod 755 "$temporary"
		mv -T "$temporary" "$folder" || return 1
	fi
	echo "$folder"
}

ks_unpack() # VERSION FOLDER
{
	local version=$1 folder=$2 unpack=(tar -x -C "$2" --strip-components=1 "${KS_UNUSED[@]/#/--exclude=}")

	if [ -e "/$KS_TAR" ]; then
		"${unpack[@]}" -J -f "/$KS_TAR"
	else
		(cd "$folder" && apt-get -q download "$KS_PACKAGE=$version") &&
			dpkg --fsys-tarfile "$folder"/*.deb | tar -x -O "./$KS_TAR" | "${unpack[@]}" -J &&
			rm -f "$folder"/*.deb
	fi && [ -e "$folder/tools/testing/kunit/kunit.py" ] && [ -e "$folder/scripts/checkpatch.pl" ]
}
