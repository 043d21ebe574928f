// SPDX-License-Identifier: GPL-2.0
/* Tests of target/process/csymbols.c on the test's own process. */
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "unit/test.h"
#include "target/process/csymbols.h"
#include "target/process/csymbols_impl.h"
#include "target/process/process.h"

#define GO_PC 0x1234

static int go_frames(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	if (pc != GO_PC)
		return 0;
	ret[0] = (struct sym_frame){ .pc = pc, .func = "go.inner", .file = "x.go", .line = 1 };
	ret[1] = (struct sym_frame){ .pc = pc, .func = "go.outer", .file = "x.go", .line = 2 };
	return 2;
}

static int go_start(void *ctx, uint64_t pc, struct sym_frame *ret)
{
	return go_frames(ctx, pc, ret) ? 1 : 0;
}

struct fixture {
	struct process proc;
	struct csymbols *c;
	struct symbolizer s;
};

static void set_up(struct fixture *f)
{
	static const struct symbolizer go = { .frames = go_frames, .start = go_start };

	assert_int_equal(process__open(&f->proc, getpid(), NULL), 0);
	f->c = csymbols__create(&go);
	assert_non_null(f->c);
	csymbols__add_modules(f->c, &f->proc);
	csymbols__symbolizer(f->c, &f->s);
}

static void tear_down(struct fixture *f)
{
	csymbols__destroy(f->c);
	process__deinit(&f->proc);
}

static struct sym_frame one(struct fixture *f, uint64_t pc)
{
	struct sym_frame frames[SYM_INLINE_MAX];

	assert_int_equal(f->s.frames(f->s.ctx, pc, frames), 1);
	assert_int_equal(frames[0].pc, pc - 1);
	assert_false(frames[0].wrapper || frames[0].elides);
	return frames[0];
}

__attribute__((noinline)) static uint64_t here(void)
{
	return (uint64_t)__builtin_return_address(0);
}

TEST(own_code)
{
	struct sym_frame frame;
	struct fixture f;
	uint64_t pc;
	int line;

	set_up(&f);
	line = __LINE__ + 1;
	pc = here();
	frame = one(&f, pc);
	assert_string_equal(frame.func, "own_code");
	assert_int_equal(frame.line, line);
	assert_non_null(strstr(frame.file, "selftests/unit/target/process/test_csymbols.c"));
	/* Asked again, it is the same answer. */
	assert_ptr_equal(one(&f, pc).func, frame.func);
	tear_down(&f);
}

TEST(go_comes_first)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct fixture f;

	set_up(&f);
	assert_int_equal(f.s.frames(f.s.ctx, GO_PC, frames), 2);
	assert_string_equal(frames[1].func, "go.outer");
	assert_int_equal(f.s.start(f.s.ctx, GO_PC, frames), 1);
	assert_int_equal(f.s.start(f.s.ctx, here(), frames), 0);
	tear_down(&f);
}

TEST(shared_object)
{
	struct sym_frame frame;
	struct fixture f;

	set_up(&f);
	/* not one that sanitizers replace */
	frame = one(&f, (uint64_t)l64a + 2);
	assert_string_equal(frame.func, "l64a");
	assert_non_null(strstr(frame.file, "libc"));
	assert_int_equal(frame.line, 0);
	tear_down(&f);
}

/* The header's PCs are in no function; of the code some are known. */
TEST(vdso)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct sym_frame frames[SYM_INLINE_MAX];
	struct fixture f;
	size_t named = 0;

	set_up(&f);
	assert_string_equal(one(&f, start + 1).func, "[vdso]");
	for (uint64_t pc = start + 1; pc < start + 4096; pc++) {
		if (f.s.frames(f.s.ctx, pc, frames))
			named += !strcmp(frames[0].func, "clock_gettime") ||
				 !strcmp(frames[0].func, "__vdso_clock_gettime");
	}
	assert_true(named);
	tear_down(&f);
}

TEST(no_file)
{
	struct sym_frame frames[SYM_INLINE_MAX];
	struct fixture f;

	set_up(&f);
	assert_int_equal(f.s.frames(f.s.ctx, 0, frames), 0);
	assert_int_equal(f.s.frames(f.s.ctx, 1, frames), 0);
	assert_int_equal(f.s.frames(f.s.ctx, 0xffff800000000000, frames), 0);
	assert_int_equal(f.s.frames(f.s.ctx, (uint64_t)&f, frames), 0);
	tear_down(&f);
}

/* Maps a file made of `len` bytes of `from` with some of them changed; its PCs have its name. */
static void with_damage(const unsigned char *from, size_t len, uint64_t *rng)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC);
	unsigned char *bytes = malloc(len);
	struct sym_frame frame;
	struct fixture f;
	uint64_t at;
	void *map;

	assert_non_null(bytes);
	memcpy(bytes, from, len);
	for (int i = 0; i < 200; i++) {
		*rng = *rng * 6364136223846793005 + 1442695040888963407;
		at = *rng >> 33;
		/* half of them in the headers, where each byte counts */
		bytes[at % (i % 2 ? len : 512)] = (unsigned char)(*rng >> 24);
	}
	bytes[0] = 0x7f;
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	map = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(map != MAP_FAILED);
	set_up(&f);
	for (size_t i = 1; i < len; i += len / 16) {
		frame = one(&f, (uint64_t)map + i);
		assert_true(frame.func[0] && frame.file[0]);
	}
	tear_down(&f);
	munmap(map, len);
	close(fd);
	free(bytes);
}

TEST(damaged_files)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	static unsigned char bytes[1 << 20];
	ssize_t len = read(fd, bytes, sizeof(bytes));
	uint64_t rng = 7;

	assert_true(len > 4096);
	close(fd);
	for (int i = 0; i < 20; i++)
		with_damage(bytes, (size_t)len, &rng);
}

/* Without its reader of lines, whatever befell it, there are still functions. */
TEST(reader_is_given_up)
{
	struct cline_reader r;
	struct cline line;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	cline_reader__start(&r, fd);
	assert_true(r.pid > 0);
	kill(r.pid, SIGKILL);
	cline_reader__find(&r, 1, &line);
	assert_int_equal(line.line, 0);
	assert_int_equal(r.pid, 0);
	cline_reader__start(&r, fd);
	assert_true(r.pid > 0);
	kill(r.pid, SIGSTOP);
	cline_reader__find(&r, 1, &line);
	assert_int_equal(r.pid, 0);
	cline_reader__find(&r, 1, &line);
	cline_reader__stop(&r);
	close(fd);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}
