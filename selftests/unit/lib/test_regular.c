// SPDX-License-Identifier: GPL-2.0
/*
 * lib/regular.c, and that whatever a traced program names is opened through it alone: traps stand
 * where the analysis looks for files, and inotify reports whether one was opened.
 */
#include <sys/capability.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

#include "unit/test.h"
#include "lib/guarded.h"
#include "lib/regular.h"
#include "target/elf/debug_file.h"
#include "target/modules/libraries.h"
#include "target/process/csymbols.h"
#include "target/process/csymbols_impl.h"
#include "target/process/process.h"

#include "unit/programs.h"
#include "unit/elf_made.h"

#define UID_NOBODY 65534

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[4][128];
	static unsigned int n;
	char *ret = path[n++ % 4];

	snprintf(ret, sizeof(path[0]), "%s/%s", folder, name);
	return ret;
}

static void make_file(const char *name, const void *bytes, size_t len)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

static int set_up(void **state)
{
	strcpy(folder, "/tmp/test-regular.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

FIXTURE(set_up, tear_down)

/* ---- traps ---- */

static int watch = -1;

/* From here on opening the file is noticed. */
static void watch_file(const char *name)
{
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, in_folder(name), IN_OPEN) >= 0);
}

static bool was_opened(void)
{
	char events[4096];
	bool opened = read(watch, events, sizeof(events)) > 0;

	close(watch);
	return opened;
}

/* A device that does nothing, whichever program opens it; needs root. */
static void make_device(const char *name)
{
	if (mknod(in_folder(name), S_IFCHR | 0600, makedev(1, 5)))
		skip();
}

TEST(the_trap_works)
{
	int fd;

	assert_int_equal(mkfifo(in_folder("trap"), 0600), 0);
	watch_file("trap");
	close(open(in_folder("trap"), O_PATH | O_CLOEXEC));
	assert_false(was_opened());
	watch_file("trap");
	fd = open(in_folder("trap"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0 && was_opened());
	close(fd);
}

/* ---- the functions ---- */

static int refusal(const char *root, const char *path, char text[512])
{
	struct error err = { "" };
	int code = root ? regular__open_below(root, path, &err) : regular__open(path, &err);

	assert_true(code < 0);
	assert_string_not_equal(err.text, "");
	memcpy(text, err.text, sizeof(err.text));
	return code;
}

TEST(only_regular_files)
{
	static const char *const interfaces[] = { "/proc/self/status", "/sys/kernel/mm/ksm/run" };
	char text[512], c;
	int fd;

	make_file("file", "x", 1);
	fd = regular__open(in_folder("file"), NULL);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(refusal(NULL, folder, text), -ENOEXEC);
	assert_non_null(strstr(text, "not a regular file"));
	assert_int_equal(refusal(NULL, in_folder("none"), text), -ENOENT);
	assert_int_equal(mkfifo(in_folder("trap"), 0600), 0);
	watch_file("trap");
	assert_int_equal(refusal(NULL, in_folder("trap"), text), -ENOEXEC);
	assert_int_equal(refusal("/", in_folder("trap"), text), -ENOEXEC);
	assert_false(was_opened());
	for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
		if (!access(interfaces[i], R_OK))
			assert_int_equal(refusal(NULL, interfaces[i], text), -ENOEXEC);
	}
}

TEST(no_device)
{
	char text[512];

	make_device("trap");
	watch_file("trap");
	assert_int_equal(refusal(NULL, in_folder("trap"), text), -ENOEXEC);
	assert_int_equal(refusal("/", in_folder("trap"), text), -ENOEXEC);
	assert_false(was_opened());
}

/* What is read by that path below `root`; 0: it is refused. */
static char read_below(const char *root, const char *path)
{
	int fd = regular__open_below(root, path, NULL);
	char c = 0;

	if (fd < 0)
		return 0;
	assert_int_equal(read(fd, &c, 1), 1);
	close(fd);
	return c;
}

TEST(links_stay_below)
{
	make_file("out", "o", 1);
	assert_int_equal(mkdir(in_folder("root"), 0700), 0);
	assert_int_equal(mkdir(in_folder("root/a"), 0700), 0);
	assert_int_equal(mkdir(in_folder("root/a/b"), 0700), 0);
	make_file("root/a/b/file", "f", 1);
	make_file("root/out", "i", 1);
	assert_int_equal(symlink("../a/./b/", in_folder("root/a/link")), 0);
	assert_int_equal(symlink("/a/link/file", in_folder("root/absolute")), 0);
	assert_int_equal(symlink("../../../../out", in_folder("root/a/up")), 0);
	assert_int_equal(symlink("loop", in_folder("root/loop")), 0);
	assert_int_equal(symlink("/proc/self/exe", in_folder("root/exe")), 0);
	assert_int_equal(read_below(in_folder("root"), "/a/b/file"), 'f');
	assert_int_equal(read_below(in_folder("root"), "//a/./b/../b/file"), 'f');
	assert_int_equal(read_below(in_folder("root"), "/a/link/file"), 'f');
	assert_int_equal(read_below(in_folder("root"), "/absolute"), 'f');
	assert_int_equal(read_below(in_folder("root"), "/../../out"), 'i');
	assert_int_equal(read_below(in_folder("root"), "/a/up"), 'i');
	assert_int_equal(read_below(in_folder("root"), "/loop"), 0);
	assert_int_equal(read_below(in_folder("root"), "/exe"), 0);
	assert_int_equal(read_below(in_folder("root"), "/a/link"), 0);
	assert_int_equal(read_below(in_folder("root"), "/"), 0);
	assert_int_equal(read_below(in_folder("root"), ""), 0);
	assert_int_equal(read_below(in_folder("root"), "a/b/file"), 0);
	assert_int_equal(read_below(in_folder("root"), "/out/"), 'i');
	assert_int_equal(read_below(in_folder("root"), "/out/x"), 0);
	assert_int_equal(read_below(in_folder("none"), "/out"), 0);
	assert_int_equal(read_below(NULL, in_folder("out")), 'o');
}

/* Another user's link is not followed, as the last component or before it. */
TEST(links_of_others)
{
	char path[128];

	make_file("file", "f", 1);
	assert_int_equal(mkdir(in_folder("a"), 0755), 0);
	make_file("a/file", "a", 1);
	assert_int_equal(symlink("a", in_folder("links")), 0);
	assert_int_equal(symlink("file", in_folder("link")), 0);
	assert_int_equal(read_below(NULL, in_folder("link")), 'f');
	assert_int_equal(read_below(NULL, in_folder("links/file")), 'a');
	snprintf(path, sizeof(path), "%s", in_folder("link"));
	if (geteuid() || lchown(path, UID_NOBODY, UID_NOBODY) ||
	    lchown(in_folder("links"), UID_NOBODY, UID_NOBODY))
		skip();
	assert_int_equal(read_below(NULL, path), 0);
	assert_int_equal(read_below(NULL, in_folder("links/file")), 0);
	assert_int_equal(read_below(NULL, in_folder("a/file")), 'a');
}

/* ---- who uses them ---- */

/* Looks for the debug file of a program in the folder whose link says "trap". */
static bool has_debug_file(const char *root)
{
	static const char link[12] = "trap\0\0\0\0";
	static const struct made_section section = { ".gnu_debuglink", link, sizeof(link) };
	char exe[128];
	struct debug_places places = { .exe = exe, .root = root };
	struct elf_image *elf;
	struct debug_file debug;
	int fd = elf_made(&section, 1);
	bool found;

	snprintf(exe, sizeof(exe), "%s", in_folder("program"));
	assert_int_equal(elf_image__open(&elf, fd, "program", NULL), 0);
	found = debug_file__open(&debug, elf, &places);
	if (found)
		debug_file__deinit(&debug);
	elf_image__destroy(elf);
	close(fd);
	return found;
}

TEST(debug_link_to_a_fifo)
{
	assert_int_equal(mkfifo(in_folder("trap"), 0600), 0);
	watch_file("trap");
	assert_false(has_debug_file(NULL));
	assert_false(has_debug_file("/"));
	assert_false(has_debug_file("/proc/self/root"));
	assert_false(was_opened());
}

TEST(debug_link_to_a_device)
{
	make_device("device");
	assert_int_equal(symlink("device", in_folder("trap")), 0);
	watch_file("device");
	assert_false(has_debug_file(NULL));
	assert_false(has_debug_file("/proc/self/root"));
	assert_false(was_opened());
}

TEST(debug_link_of_another_user)
{
	make_file("secret", "x", 1);
	assert_int_equal(symlink("secret", in_folder("trap")), 0);
	if (geteuid() || lchown(in_folder("trap"), UID_NOBODY, UID_NOBODY))
		skip();
	watch_file("secret");
	assert_false(has_debug_file(NULL));
	assert_false(has_debug_file("/proc/self/root"));
	assert_false(was_opened());
}

/* Maps a page of the file at that path, which is then removed, executable. */
static void *map_deleted(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	void *map;

	assert_int_equal(ftruncate(fd, 4096), 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	close(fd);
	unlink(path);
	return map;
}

/* In /proc/PID/maps the library is called "lib.so (deleted)". */
TEST(deleted_library)
{
	void *map = map_deleted(in_folder("lib.so"));
	struct process self = { .pid = getpid() };
	static struct go_libraries libraries;

	assert_int_equal(mkfifo(in_folder("lib.so (deleted)"), 0600), 0);
	watch_file("lib.so (deleted)");
	assert_false(libraries__choose(&libraries, &self, NULL));
	assert_false(was_opened());
	munmap(map, 4096);
}

static void add_our_modules(void)
{
	static const struct symbolizer none;
	struct csymbols *c = csymbols__create(&none);
	struct process self;

	assert_int_equal(process__open(&self, getpid(), NULL), 0);
	csymbols__add_modules(c, &self);
	csymbols__destroy(c);
	process__deinit(&self);
}

/* A device can be mapped: the kernel has a link to it in /proc/PID/map_files. */
TEST(mapped_device)
{
	void *map;
	int fd;

	make_device("device");
	fd = open(in_folder("device"), O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	assert_true(map != MAP_FAILED);
	watch_file("device");
	add_our_modules();
	assert_false(was_opened());
	munmap(map, 4096);
}

/* Without the privileges for map_files what is mapped is looked for by its name. */
TEST(mapped_and_replaced_by_a_fifo)
{
	const cap_value_t needed[] = { CAP_SYS_ADMIN, CAP_CHECKPOINT_RESTORE };
	void *map = map_deleted(in_folder("lib.so"));
	cap_t all = cap_get_proc(), fewer = cap_dup(all);

	assert_int_equal(cap_set_flag(fewer, CAP_EFFECTIVE, 2, needed, CAP_CLEAR), 0);
	assert_int_equal(mkfifo(in_folder("lib.so (deleted)"), 0600), 0);
	watch_file("lib.so (deleted)");
	assert_int_equal(cap_set_proc(fewer), 0);
	add_our_modules();
	assert_int_equal(cap_set_proc(all), 0);
	assert_false(was_opened());
	cap_free(all);
	cap_free(fewer);
	munmap(map, 4096);
}

/* ---- libdw, which opens files that DWARF names (.dwo, .gnu_debugaltlink) ---- */

static int try_to_open(void *ctx, void *result, struct error *err)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	*(int *)result = fd < 0 ? errno : 0;
	return 0;
}

TEST(libdw_opens_nothing)
{
	static const struct guarded_limits limits = { .cpu_seconds = 5,
						      .seconds = 20,
						      .memory = 1 << 30 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), result = 0;
	struct rlimit files = { 1, 1 };
	struct cline_reader reader;
	struct cline line;

	assert_int_equal(guarded__run(try_to_open, NULL, &limits, &result, sizeof(result), NULL),
			 0);
	assert_int_equal(result, EMFILE);
	cline_reader__start(&reader, fd);
	cline_reader__find(&reader, 1, &line); /* by now it has its limits */
	assert_int_equal(prlimit(reader.pid, RLIMIT_NOFILE, NULL, &files), 0);
	assert_int_equal(files.rlim_cur, 0);
	assert_int_equal(files.rlim_max, 0);
	cline_reader__stop(&reader);
	close(fd);
}

TEST_WITH(parts, NULL, NULL)
{
	int fd = memfd_create("parts", 0);
	char text[8] = "";

	assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(regular__read_at(fd, 3, text, 4), 0);
	assert_string_equal(text, "3456");
	assert_int_equal(regular__read_at(fd, 6, text, 4), 0);
	assert_string_equal(text, "6789");
	assert_int_equal(regular__read_at(fd, 6, text, 5), -EBADMSG);
	assert_int_equal(regular__read_at(fd, 10, text, 1), -EBADMSG);
	assert_int_equal(regular__read_at(fd, 100, text, 0), 0);
	assert_int_equal(regular__read_at(fd, UINT64_MAX, text, 1), -EINVAL);
	close(fd);
	assert_int_equal(regular__read_at(fd, 0, text, 1), -EBADF);
}
