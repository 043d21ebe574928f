# Virtual machines with Debian's own kernels; read after lib.sh. QEMU emulates (KVM is not needed).
# $VM_OWN is the release of a kernel that vm/kasan has built, which then takes the place of all
# others; $VM_THREADS is "multi" if each of its CPUs has a thread of its own.
# The guest's root is the host's, read-only through 9p below a tmpfs, so programs of this tree run
# there unchanged, at the same paths. The guest's output uses its second serial port, separate from
# the kernel's messages on the first one.
#
#     vm_have 6.12 || note "$VM_REASON"
#     vm_boot 6.12 "$tmp/vm" SECONDS [QEMU OPTION...]   # runs $tmp/vm/share/start in the guest
#     trap 'vm_cleanup; ktap_cleanup' EXIT              # if a machine may still run at the script's end
#
# Kernels and initramfs are cached outside the tree, by the name and content of their inputs.

VM_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-selftests/vm
VM_PACKAGES=(qemu-system-x86 python3 busybox-static kmod xz-utils linux-headers-6.12-amd64 linux-headers-amd64)
VM_INIT=selftests/vm/init

# KERNEL: the package that depends on Debian's newest release of it, and on the headers to build
# modules
vm_headers()
{
	case $1 in
	6.12) echo linux-headers-6.12-amd64 ;;
	6.1) echo linux-headers-amd64 ;; # Debian 12's own
	*) return 1 ;;
	esac
}

vm_release() # KERNEL: 6.12.117+deb12-amd64
{
	[ -z "${VM_OWN-}" ] || { echo "$VM_OWN"; return; }
	dpkg-query -W -f='${Depends}\n' "$(vm_headers "$1")" 2>/dev/null |
		sed -n "s/^linux-headers-\(${1//./\\.}\.[^ ,]*\).*/\1/p" | grep .
}

# KERNEL: installs missing packages; sets VM_RELEASE, VM_KERNEL and VM_INITRD. False, with a reason
# in VM_REASON, if they are unavailable.
vm_have()
{
	local root

	VM_REASON=$(locked selftests/deps.sh "${VM_PACKAGES[@]}" 2>&1) ||
		{ VM_REASON="packages cannot be had: ${VM_REASON##*$'\n'}"; return 1; }
	[ "$(uname -m)" = x86_64 ] || { VM_REASON="not an x86-64 machine"; return 1; }
	VM_RELEASE=$(vm_release "$1") ||
		{ VM_REASON="$(vm_headers "$1") is of another kernel than $1"; return 1; }
	root=$(locked vm_root "$VM_RELEASE") || { VM_REASON="no image of Linux $VM_RELEASE: $root"; return 1; }
	VM_KERNEL=$root/boot/vmlinuz-$VM_RELEASE
	VM_INITRD=$(locked vm_initrd "$VM_RELEASE" "$root") ||
		{ VM_REASON="no initramfs for Linux $VM_RELEASE: $VM_INITRD"; return 1; }
}

# RELEASE: prints the folder that contains its boot/ and lib/modules/: the machine's own if the
# package is installed, or one with only the modules for the initramfs.
vm_root()
{
	local release=$1 folder=$VM_CACHE/linux-$1 temporary

	if [ -e "/boot/vmlinuz-$release" ] && [ -e "/lib/modules/$release/modules.dep" ]; then
		return 0 # "", so that paths begin with /
	fi
	if [ ! -e "$folder" ]; then
		mkdir -p "$VM_CACHE" && temporary=$(mktemp -d "$VM_CACHE/making.XXXXXX") || return 1
		if ! vm_unpack "$release" "$temporary" >"$VM_CACHE/log" 2>&1; then
			grep -v '^W:' "$VM_CACHE/log" | tail -n 1
			rm -rf "$temporary"
			return 1
		fi
		mv -T "$temporary" "$folder" || return 1
	fi
	echo "$folder"
}

vm_unpack() # RELEASE FOLDER; not installed, which would change the kernel that the machine boots
{
	local release=$1 folder=$2 modules=./lib/modules/$1

	(cd "$folder" && { apt-get -q download "linux-image-$release" ||
		{ apt-get -q update && apt-get -q download "linux-image-$release"; }; }) || return 1
	dpkg --fsys-tarfile "$folder"/linux-image-*.deb |
		tar -x -C "$folder" --wildcards "./boot/*-$release" "$modules/modules.*" \
			"$modules/kernel/fs/9p/*" "$modules/kernel/fs/netfs/*" "$modules/kernel/fs/fscache/*" \
			"$modules/kernel/fs/overlayfs/*" "$modules/kernel/net/9p/*" "$modules/kernel/drivers/virtio/*"
	rm -f "$folder"/linux-image-*.deb
	[ -e "$folder/boot/vmlinuz-$release" ] && depmod -b "$folder" "$release"
}

vm_initrd() # RELEASE ROOT: prints the file
{
	local release=$1 root=$2 key file folder

	key=$(cat $VM_INIT /bin/busybox "$root/lib/modules/$release/modules.dep" | sha256sum)
	file=$VM_CACHE/initramfs-$release-${key:0:16}
	if [ ! -e "$file" ]; then
		mkdir -p "$VM_CACHE" && folder=$(mktemp -d "$VM_CACHE/making.XXXXXX") || return 1
		vm_fill_initrd "$release" "$root" "$folder" || { rm -rf "$folder"; return 1; }
		(cd "$folder" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$file.new" &&
			mv "$file.new" "$file"
		rm -rf "$folder"
	fi
	[ -s "$file" ] && echo "$file"
}

# Modules are numbered in load order.
vm_fill_initrd() # RELEASE ROOT FOLDER
{
	local release=$1 root=$2 folder=$3 module n=100

	mkdir "$folder"/{bin,dev,host,merged,modules,over,proc,share,sys} &&
		install -m 755 $VM_INIT "$folder/init" && cp /bin/busybox "$folder/bin/" || return 1
	while read -r module; do
		n=$((n + 1))
		case $module in
		*.xz) xz -dc "$module" >"$folder/modules/$n.ko" ;;
		*) cp "$module" "$folder/modules/$n.ko" ;;
		esac || return 1
	done < <(for module in virtio_pci 9pnet_virtio 9p overlay; do
			modprobe -d "${root:-/}" -S "$release" --show-depends "$module" || echo "insmod /no/$module"
		done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++')
}

# The files of the commands that scripts execute, and their libraries.
vm_tools()
{
	local tool

	for tool in bash awk basename busybox cat cmp cp cut date env flock getent grep head jq ls mkdir mkfifo \
		mktemp paste rm sed sleep sort tail timeout touch tr unshare wc; do
		tool=$(command -v "$tool" | grep ^/) && echo "$tool" && ldd "$tool" 2>/dev/null | grep -o '/[^ ]*'
	done | xargs realpath | sort -u
}

# KERNEL FOLDER SECONDS [OPTION...]: boots the kernel of vm_have and runs FOLDER/share/start there,
# with bash in this tree's folder; $VM_SHARE is FOLDER/share, both on the host and in the guest, the
# only place where the guest's files persist. Prints the guest's standard output; its standard error
# goes to FOLDER/console, after the kernel's messages.
vm_boot()
{
	local folder=$2 seconds=$3 accel=(-accel "tcg,thread=${VM_THREADS:-single}" -smp "${VM_CPUS:-2}")
	shift 3

	vm_tools >"$folder/share/tools"
	[[ " $* " != *" -icount "* ]] || accel=(-accel "tcg,thread=single" -smp 1)
	command timeout --foreground -k 5 "$seconds" qemu-system-x86_64 -pidfile "$folder/pid" "${accel[@]}" -M pc -bios qboot.rom -cpu max -m 2G \
		-nodefaults -no-user-config -display none -no-reboot \
		-qmp "unix:$folder/monitor,server=on,wait=off" -serial "file:$folder/console" -serial stdio \
		-kernel "$VM_KERNEL" -initrd "$VM_INITRD" \
		-append "console=ttyS0 panic=-1 quiet loglevel=4 tree=$PWD share=$(realpath "$folder")/share" \
		-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=root,mount_tag=hostroot \
		-fsdev "local,id=share,path=$folder/share,security_model=none" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share "$@" </dev/null 2>>"$folder/qemu.err" |
		sed -u 's/\r//g'
	return "${PIPESTATUS[0]}"
}

# FOLDER COMMAND...: of the machine's monitor, such as stop, cont and query-status; prints the last answer
vm_command()
{
	python3 -c '
import json, socket, sys
monitor = socket.socket(socket.AF_UNIX)
monitor.connect(sys.argv[1])
lines = monitor.makefile("rw")
for command in ["qmp_capabilities"] + sys.argv[2:]:
    print(json.dumps({"execute": command}), file=lines, flush=True)
    answer = {}
    while not {"return", "error"} & answer.keys(): # others are the greeting, and events
        answer = json.loads(lines.readline())
print(json.dumps(answer))' "$1/monitor" "${@:2}"
}

# RELEASE: sets VM_MODULE to the kernel module built for it, with the kernel's BTF. Built in a copy,
# so that the tree stays clean; cached by the content of all its inputs. False, with the compiler's
# messages, when it does not build. Machines of the same release, which start at the same time, wait
# for the first one's build.
vm_module()
{
	local status

	mkdir -p "$VM_CACHE" && exec 9>"$VM_CACHE/module.lock" && flock 9 || return 1
	vm_build_module "$1" 9>&-
	status=$?
	exec 9>&-
	return $status
}

vm_build_module() # RELEASE
{
	local release=$1 key folder headers=/usr/src/linux-headers-$1

	[ -z "${VM_OWN-}" ] || headers=$VM_CACHE/linux-$1/build
	key=$({
		find Kbuild kmod include -name '*.ko' -prune -o -type f -print | LC_ALL=C sort | xargs sha256sum
		if [ -n "${VM_OWN-}" ]; then sha256sum "$headers/vmlinux"; else dpkg-query -W "linux-headers-$release"; fi
	} | sha256sum)
	VM_MODULE=$VM_CACHE/module-$release-${key:0:16}/gotrace.ko
	[ ! -e "$VM_MODULE" ] || return 0
	mkdir -p "$VM_CACHE" && folder=$(mktemp -d "$VM_CACHE/making.XXXXXX") || return 1
	mkdir "$folder/source" "$folder/made" && cp -a Kbuild kmod include "$folder/source/" &&
		make -C "$headers" "M=$folder/source" CONFIG_GOTRACE=m modules &&
		find "$folder/source" -name gotrace.ko -exec cp -t "$folder/made" {} + &&
		[ -e "$folder/made/gotrace.ko" ] && mv -T "$folder/made" "${VM_MODULE%/*}"
	rm -rf "$folder"
	[ -e "$VM_MODULE" ]
}

vm_cleanup() # stops all machines; preserves $?
{
	local status=$? file

	for file in "$tmp"/*/pid; do
		[ ! -e "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null
	done
	return $status
}
