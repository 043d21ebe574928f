// SPDX-License-Identifier: GPL-2.0
/*
 * Finds a program's separate debug file where distributions and objcopy put it.
 *
 * Upstream: elf/elf.c. Downstream: layout/layout.c. The program may live in a container: its root
 * is searched first. The program chooses the name in .gnu_debuglink and may own the directory, so
 * files are opened by lib/regular.h: no link leads out of the root or to another user's file, and
 * only regular files are opened.
 */
#include "target/elf/debug_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/buf.h"
#include "lib/regular.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define LINK_MAX   4096		/* bytes of .gnu_debuglink: a file name and its checksum */
#define FILE_MAX   (8ull << 30) /* bytes; larger files are not checksummed */

struct debug_link {
	char name[256];
	uint32_t crc;
};

/* "name\0", padding to 4 bytes, CRC-32. A name with a directory is rejected. */
static bool read_link(const struct elf_image *elf, struct debug_link *ret)
{
	struct elf_section sec;
	unsigned char *data;
	const char *name;
	bool ok = false;
	struct buf b;

	if (!elf_image__section(elf, ".gnu_debuglink", &sec) || sec.size > LINK_MAX)
		return false;
	data = elf_image__load(elf, &sec);
	if (!data)
		return false;
	b = buf__make(data, sec.size);
	name = buf__string_at(&b, 0);
	if (name && name[0] && !strchr(name, '/') && strlen(name) < sizeof(ret->name)) {
		strcpy(ret->name, name);
		buf__seek(&b, (strlen(name) + 4) & ~(uint64_t)3);
		ret->crc = buf__u32(&b);
		ok = !b.bad;
	}
	free(data);
	return ok;
}

static bool has_checksum(int fd, uint32_t crc)
{
	unsigned char buf[1 << 16];
	uLong sum = crc32(0, NULL, 0);
	off_t at = 0;
	struct stat st;
	ssize_t n;

	if (regular__stat(fd, NULL, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MAX)
		return false;
	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		sum = crc32(sum, buf, (uInt)n);
		at += n;
	}
	return n == 0 && sum == crc;
}

/* The program's own file may be at one of the paths searched; it is of no use. */
static bool has_debug_data(const struct elf_image *elf)
{
	static const char *const names[] = { ".debug_info", ".zdebug_info", ".symtab" };
	struct elf_section sec;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (elf_image__section(elf, names[i], &sec) && sec.in_file && sec.size)
			return true;
	}
	return false;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* `crc`: NULL for a file that must have the build id of the program. */
static bool try_open(struct debug_file *ret, const struct elf_image *elf, const char *root,
		     const char *path, const uint32_t *crc)
{
	struct debug_file f = { .fd = regular__open_below(root, path, NULL) };

	if (f.fd < 0)
		return false;
	snprintf(f.path, sizeof(f.path), "%s%s", root ? root : "", path);
	if (!elf_image__open(&f.elf, f.fd, f.path, NULL) && has_debug_data(f.elf) &&
	    (crc ? has_checksum(f.fd, *crc) :
		   same_text(elf_image__build_id(elf), elf_image__build_id(f.elf)))) {
		*ret = f;
		return true;
	}
	debug_file__deinit(&f);
	return false;
}

static bool by_build_id(struct debug_file *ret, const struct elf_image *elf, const char *root)
{
	const char *id = elf_image__build_id(elf);
	char path[256];

	if (!id || strlen(id) < 4)
		return false;
	snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%.2s/%s.debug", id, id + 2);
	return try_open(ret, elf, root, path, NULL);
}

static bool by_link(struct debug_file *ret, const struct elf_image *elf, const char *root,
		    const char *exe, const struct debug_link *link)
{
	static const char *const forms[] = {
		"%.*s/%s",
		"%.*s/.debug/%s",
		DEBUG_ROOT "%.*s/%s",
	};
	const char *slash = exe ? strrchr(exe, '/') : NULL;
	char path[PATH_MAX + 512];

	for (size_t i = 0; slash && i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(path, sizeof(path), forms[i], (int)(slash - exe), exe, link->name);
		if (try_open(ret, elf, root, path, &link->crc))
			return true;
	}
	return false;
}

bool debug_file__open(struct debug_file *ret, const struct elf_image *elf,
		      const struct debug_places *places)
{
	const char *roots[] = { places ? places->root : NULL, NULL };
	struct debug_link link;
	bool linked = read_link(elf, &link);

	for (size_t i = roots[0] ? 0 : 1; i < 2; i++) {
		if (by_build_id(ret, elf, roots[i]) ||
		    (linked && by_link(ret, elf, roots[i], places ? places->exe : NULL, &link)))
			return true;
	}
	return false;
}

void debug_file__deinit(struct debug_file *file)
{
	elf_image__destroy(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct debug_file){ .fd = -1 };
}
