// SPDX-License-Identifier: GPL-2.0
/* Tests of target/elf/debug_file.c: search order, and files of other programs. */
#include <ftw.h>
#include <zlib.h>

#include "unit/test.h"
#include "target/elf/debug_file.h"
#include "target/elf/elf.h"

#include "unit/programs.h"

#include "unit/elf_made.h"

#define BY_ID "/usr/lib/debug/.build-id/ab/cdef01.debug"

static char root[] = "/tmp/gotrace-debug-XXXXXX";

struct note {
	uint32_t namesz, descsz, type;
	char name[4];
	unsigned char desc[4];
};

static const struct note id = { 4, 4, 3, "GNU", { 0xab, 0xcd, 0xef, 0x01 } };
static const struct note other_id = { 4, 4, 3, "GNU", { 0xab, 0xcd, 0xef, 0x02 } };

static int make_root(void **state)
{
	return !mkdtemp(root);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int empty_root(void **state)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return mkdir(root, 0700);
}

FIXTURE(NULL, empty_root)

static void remove_root(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

GROUP(make_root, remove_root)

/* Below the root, with symbols or without. Returns the file's checksum. */
static uint32_t put(const char *path, const struct note *build_id, bool symbols)
{
	struct made_section sec[] = { { ".note.gnu.build-id", build_id, sizeof(*build_id), 0, 0 },
				      { symbols ? ".symtab" : ".other", path, strlen(path), 0,
					0 } };
	static unsigned char bytes[4096];
	int made = elf_made(sec, 2), fd;
	char full[512];
	ssize_t len = pread(made, bytes, sizeof(bytes), 0);

	close(made);
	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(full, 0755);
		*p = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_int_equal(write(fd, bytes, (size_t)len), len);
	close(fd);
	return (uint32_t)crc32(0, bytes, (uInt)len);
}

/* Checks which debug file, or none, /bin/program of that root has with this build id and link. */
static bool opens(const char *want, const struct note *build_id, const char *name, uint32_t crc)
{
	const struct debug_places places = { .root = root, .exe = "/bin/program" };
	unsigned char link[64] = "";
	struct made_section sec[] = { { ".note.gnu.build-id", build_id, sizeof(*build_id), 0, 0 },
				      { ".gnu_debuglink", link, 0, 0, 0 } };
	struct debug_file file;
	struct elf_image *elf;
	bool is_open;
	int fd;

	strcpy((char *)link, name);
	sec[1].len = ((strlen(name) + 4) & ~3ul) + 4;
	memcpy(link + sec[1].len - 4, &crc, 4);
	fd = elf_made(sec, 2);
	assert_int_equal(elf_image__open(&elf, fd, "program", NULL), 0);
	is_open = debug_file__open(&file, elf, &places);
	if (is_open) {
		assert_string_equal(file.path + strlen(root), want);
		assert_non_null(file.elf);
		debug_file__deinit(&file);
		assert_int_equal(file.fd, -1);
		assert_null(file.elf);
	}
	elf_image__destroy(elf);
	close(fd);
	return is_open;
}

TEST(by_build_id)
{
	assert_false(opens(BY_ID, &id, "x", 0));
	put(BY_ID, &other_id, true);
	assert_false(opens(BY_ID, &id, "x", 0));
	put(BY_ID, &id, false); /* the program itself: no additional data */
	assert_false(opens(BY_ID, &id, "x", 0));
	put(BY_ID, &id, true);
	assert_true(opens(BY_ID, &id, "x", 0));
	assert_false(opens(BY_ID, &other_id, "x", 0));
}

/* Beside the program, in .debug there, below /usr/lib/debug: the first valid checksum. */
TEST(by_link)
{
	static const char *const paths[] = {
		"/usr/lib/debug/bin/x.debug",
		"/bin/.debug/x.debug",
		"/bin/x.debug",
	};
	uint32_t crc;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		crc = put(paths[i], &other_id, true);
		assert_false(opens(paths[i], &id, "x.debug", crc + 1));
		assert_true(opens(paths[i], &id, "x.debug", crc));
		assert_false(opens(paths[i], &id, "../bin/x.debug", crc));
		assert_false(opens(paths[i], &id, "", crc));
	}
	crc = put("/bin/x.debug", &other_id, false);
	assert_false(opens("", &id, "x.debug", crc));
	put(BY_ID, &id, true); /* the build id has priority */
	crc = put("/bin/x.debug", &other_id, true);
	assert_true(opens(BY_ID, &id, "x.debug", crc));
}
