#!/bin/bash
# tier: all
# parallel: first
# timeout: 900
# Static checks of the kernel module: built with additional gcc warnings and sparse against Debian's
# 6.12 source, and checked by checkpatch; any warning is a failure. Then built as DKMS does it, and by
# `make kmod_install`.
# depends on: Makefile Kbuild dkms.conf kmod include
. "$(dirname "$0")/../lib.sh"
. selftests/kernel-source.lib.sh

headers=linux-headers-6.12-amd64

# Disabled checks of checkpatch, with reasons:
#   LINUX_VERSION_CODE, CONSTANT_COMPARISON  compat.h is where releases differ; it takes the macro for a
#                                            constant
#   BIT_MACRO                                uapi.h and module.h are userspace's and BPF's, too
#   CAMELCASE                                _Static_assert is C's
#   MACRO_ARG_REUSE, MACRO_ARG_PRECEDENCE    a table's rows are made of constants and members' names
ignored=LINUX_VERSION_CODE,CONSTANT_COMPARISON,BIT_MACRO,CAMELCASE,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE

is_there()
{
	locked selftests/deps.sh sparse make gcc perl kmod $headers || return 1
	source=$(kernel_source) || { echo "$source"; return 1; }
	build=$(dpkg-query -W -f='${Depends}' $headers | sed 's/^linux-headers-\([^ ,]*\).*/\1/')
	build=/usr/src/linux-headers-$build
	[ -d "$build" ] && mkdir "$tmp/kmod" && cp -a Kbuild kmod include "$tmp/kmod/"
}

build_says_nothing()
{
	make -C "$build" "M=$PWD/$tmp/kmod" CONFIG_GOTRACE=m W=1 C=2 CHECK=sparse modules >"$tmp/build" 2>&1 ||
		{ tail -n 30 "$tmp/build"; return 1; }
	! grep -E ': (warning|error|note):|^WARNING' "$tmp/build"
}

# Proves that sparse runs: user memory is read without the accessor.
sparse_sees_a_fault()
{
	cat >>"$tmp/kmod/kmod/ring.c" <<-END
		u64 wrong(u64 __user *at);
		u64 wrong(u64 __user *at)
		{
			return *at;
		}
	END
	! build_says_nothing >"$tmp/fault" && grep 'ring.c:.*warning: dereference of noderef expression' "$tmp/fault"
}

# Follows dkms.conf in a folder laid out as DKMS does it.
dkms_builds()
{
	local kernel_source_dir=$build dkms_tree=$PWD/$tmp/dkms folder

	. ./dkms.conf
	folder=$dkms_tree/$PACKAGE_NAME/$PACKAGE_VERSION/build
	mkdir -p "$folder" && cp -a dkms.conf Kbuild kmod include "$folder/" && rm -f "$folder/kmod/gotrace.ko" || return 1
	(cd "$folder" && eval "${MAKE[0]}") || return 1
	built=$folder/${BUILT_MODULE_LOCATION[0]}/${BUILT_MODULE_NAME[0]}.ko
	[ -e "$built" ]
}

same_version()
{
	local version
	version=$(our_version) && [ "$version" ] || return 1
	echo "version.h $version, dkms.conf $PACKAGE_VERSION, module $(PATH=$PATH:/usr/sbin:/sbin modinfo -F version "$built")"
	[ "$PACKAGE_VERSION" = "$version" ] &&
		[ "$(PATH=$PATH:/usr/sbin:/sbin modinfo -F version "$built")" = "$version" ] &&
		[ "$(build/gotrace --version)" = "gotrace $version" ]
}

# For that kernel, into a folder
make_installs()
{
	local root=$PWD/$tmp/root release=${build##*/linux-headers-} module

	make -s kmod_install "KDIR=$build" "DESTDIR=$root" && module=$(cd "$root/lib/modules/$release" && find updates -name 'gotrace.ko*') &&
		[ "$(wc -w <<<"$module")" -eq 1 ] && grep -q "^$module:" "$root/lib/modules/$release/modules.dep" &&
		[[ $(PATH=$PATH:/usr/sbin:/sbin modinfo -F vermagic "$root/lib/modules/$release/$module") == "$release "* ]]
}

# FILE...; in the copy, since checkpatch writes a file next to .git
checkpatch()
{
	cd "$tmp/kmod" && perl "$source/scripts/checkpatch.pl" --strict --no-tree --no-summary --show-types --terse \
		--max-line-length=100 "--ignore=$ignored" -f "$@"
}

checkpatch_says_nothing()
{
	(checkpatch kmod/*.[ch] include/gotrace/{uapi,module}.h)
}

checkpatch_sees_a_fault()
{
	echo 'int  wrong( void ){return 0;}' >>"$tmp/kmod/kmod/ring.c"
	! (checkpatch kmod/ring.c) >"$tmp/fault" && grep ':SPACING: ' "$tmp/fault"
}

ktap_start
if try "kernel headers and source are available" is_there; then
	try "no warnings of sparse and gcc with W=1" build_says_nothing
	try "no warnings of checkpatch" checkpatch_says_nothing
	try "sparse detects a seeded fault" sparse_sees_a_fault
	try "DKMS builds the module" dkms_builds
	try "make kmod_install" make_installs
	try "one version in make, DKMS and the module" same_version
	try "checkpatch detects a seeded fault" checkpatch_sees_a_fault
fi
ktap_end
