#!/bin/bash
# A part of `make deps`: puts the SQL engine of `gotrace sql`, DuckDB's library, into build/lib, where build/gotrace finds it. If it is there already this takes a moment.
# The library is that of a package of npm, of exactly one version, which is checked by its hash. npm itself is not
# needed: see npm.lib.sh.
set -u

package=@duckdb/node-bindings-linux-x64 version=1.5.6-r.1
sum=3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633
library=build/lib/libduckdb.so

die()
{
	echo "deps: $*" >&2
	exit 1
}

is_right() # FILE
{
	[ -e "$1" ] && [ "$(sha256sum <"$1")" = "$sum  -" ]
}

cd "$(dirname "$0")/.." || exit 1
. selftests/npm.lib.sh
is_right $library && exit 0
[ "$(uname -m)" = x86_64 ] || die "no SQL engine for $(uname -m): gotrace sql needs --engine FILE"
mkdir -p build/lib && folder=$(mktemp -d build/lib/engine.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
echo "installing the SQL engine (make deps): $package $version"
fetch_npm "$package" "$version" "$folder" && tar -C "$folder" -xzf "$folder"/*.tgz ||
	die "cannot fetch $package@$version: without it 'gotrace sql' needs --engine FILE"
is_right "$folder/package/libduckdb.so" || die "$package@$version: libduckdb.so is not the expected file"
mv "$folder/package/LICENSE" build/lib/LICENSE.duckdb && chmod 644 "$folder/package/libduckdb.so" &&
	mv "$folder/package/libduckdb.so" $library
