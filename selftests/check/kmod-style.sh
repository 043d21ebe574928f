#!/bin/bash
# timeout: 900
# The kernel module's source as its kernel wants it: built with more of gcc's warnings and by sparse
# against Debian's 6.12, and read by checkpatch. A warning is a failure. Then as DKMS builds it.
. "$(dirname "$0")/../lib.sh"
. selftests/kernel-source.lib.sh

headers=linux-headers-6.12-amd64

# What checkpatch is not asked for, and why:
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

# That it is sparse which looks: user memory is read without the function for it.
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

# What dkms.conf tells DKMS to do, in a folder as DKMS has it.
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
	version=$(sed -n 's/^VERSION *:= *//p' Makefile) && [ "$version" ] || return 1
	echo "Makefile $version, dkms.conf $PACKAGE_VERSION, module $(PATH=$PATH:/usr/sbin:/sbin modinfo -F version "$built")"
	[ "$PACKAGE_VERSION" = "$version" ] &&
		[ "$(PATH=$PATH:/usr/sbin:/sbin modinfo -F version "$built")" = "$version" ] &&
		grep -q "/usr/src/$PACKAGE_NAME-$version" dkms.conf && grep -q "install $PACKAGE_NAME/$version" dkms.conf
}

# FILE...; in the copy, since it leaves a file where there is a .git
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
if try "the kernel's headers and source are there" is_there; then
	try "sparse, and gcc with W=1" build_says_nothing
	try "checkpatch" checkpatch_says_nothing
	try "sparse sees a fault" sparse_sees_a_fault
	try "DKMS builds it" dkms_builds
	try "one version: make's, DKMS's, the module's" same_version
	try "checkpatch sees a fault" checkpatch_sees_a_fault
fi
ktap_end
