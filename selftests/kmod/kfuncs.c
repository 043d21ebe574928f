// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the functions that BPF programs call, mostly with invalid arguments: a probe of a
 * function here makes the requested call. Also loads programs that the verifier must reject. Under
 * test: kmod/kfuncs.c.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfuncs.h"
#include "kfuncs.skel.h"
#include "test.h"

#define PAGE 4096ul

static struct ask *ask; /* in the program's memory */

/* The probed function. */
static __attribute__((noinline, noipa)) void hit(void)
{
	asm volatile("" ::: "memory");
}

/* Makes a call; returns its result. */
static uint64_t answer(enum ask_call call)
{
	uint32_t hits = ask->hits;

	ask->call = call;
	hit();
	if (ask->hits != hits + 1)
		printf("# the probe was not hit\n");
	return ask->hits == hits + 1 ? ask->answer : 0xdeadull << 48;
}

static int emitted(uint32_t session, uint32_t size, uint64_t tail, uint32_t tail_size)
{
	struct gt_record *rec = (struct gt_record *)ask->data;

	memset(ask->data, 0, sizeof(ask->data));
	rec->kind = GT_EXEC;
	ask->session = session;
	ask->size = size;
	ask->tail = tail;
	ask->tail_size = tail_size;
	return answer(ASK_EMIT);
}

/* ---- records ---- */

static bool test_emit(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	static const uint32_t bad[] = { 0, 8, 31, 33, 36, 39, 41, 2040 };
	const struct gt_ring_control *control;
	static char text[] = "eleven here";
	uint64_t head;

	CHECK(page);
	control = ring(page, 0);
	CHECK_EQUAL(emitted(want.id, 32, 0, 0), 0);
	CHECK_EQUAL(emitted(want.id, 40, (uintptr_t)text, 11), 0);
	head = sizeof(struct gt_subbuf) + 32 + 40 + 16;
	CHECK(control->head == head && control->seq == 2);
	CHECK(!memcmp((const char *)page + page->ring_offset + head - 16, text, 11));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQUAL(emitted(want.id, bad[i], 0, 0), -EINVAL);
	CHECK_EQUAL(emitted(want.id, 40, (uintptr_t)text, GT_TAIL_MAX + 1), -EINVAL);
	CHECK_EQUAL(emitted(want.id, 40, (uintptr_t)text, ~0u), -EINVAL);
	CHECK(control->head == head && control->seq == 2);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

/* Tails that are absent, partly or completely, or in kernel memory: nothing is stored. */
static bool test_tails(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t bad[] = { 0,
				 8,
				 (uintptr_t)pages + PAGE - 8, /* its second half is absent */
				 (uintptr_t)pages + PAGE,
				 (uintptr_t)pages + 2 * PAGE, /* never touched */
				 0x7ffffffffff8,
				 0x800000000000,
				 0xffff888000000000,
				 0xffffffff81000000,
				 ~7ull };

	CHECK(page && pages != MAP_FAILED && !munmap(pages + PAGE, PAGE));
	memset(pages, 'x', PAGE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQUAL(emitted(want.id, 40, bad[i], 16), -EFAULT);
	CHECK(!ring(page, 0)->head && !ring(page, 0)->seq && !ring(page, 0)->lost);
	CHECK_EQUAL(emitted(want.id, 40, (uintptr_t)pages + PAGE - 16, 16), 0);
	munmap(pages, PAGE);
	munmap(pages + 2 * PAGE, PAGE);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

static uint32_t id_of(uint32_t session)
{
	ask->session = session;
	ask->w = (struct gt_unwind){ .pc = 4711, .second = 4712 };
	ask->depth = GT_STACK_MAX;
	return answer(ASK_ID);
}

/* Sessions that do not exist, are frozen, or were released. */
static bool test_sessions(void)
{
	struct gt_abi_create want = small("", 0);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);
	const uint32_t bad[] = {
		0, 1, want.id + GT_SESSIONS_MAX, want.id ^ 1, want.id | 0x80000000, ~0u
	};
	uint32_t id = id_of(want.id);

	CHECK(page && id && id == id_of(want.id));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK_EQUAL(emitted(bad[i], 32, 0, 0), -ENOENT);
		CHECK_EQUAL(emitted(bad[i], 32, (uintptr_t)&id, 4), -ENOENT);
		CHECK_EQUAL(id_of(bad[i]), 0);
	}
	CHECK(!ring(page, 0)->seq);
	CHECK_EQUAL(call(fd, GT_IOC_FREEZE, NULL), 0);
	CHECK_EQUAL(emitted(want.id, 32, 0, 0), -ESHUTDOWN);
	CHECK_EQUAL(emitted(want.id, 32, (uintptr_t)&id, 4), -ESHUTDOWN);
	CHECK_EQUAL(id_of(want.id), 0);
	CHECK(page->refused == 2 && !ring(page, 0)->seq);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	CHECK_EQUAL(emitted(want.id, 32, 0, 0), -ENOENT);
	CHECK_EQUAL(id_of(want.id), 0);
	munmap((void *)page, want.bytes);
	close(fd);
	return true;
}

/* ---- stacks ---- */

struct frame {
	uint64_t next, pc;
};

/* The walk from `fp` on has n PCs, with each of the functions. */
static bool walks(uint64_t fp, uint64_t hi, uint32_t depth, uint32_t n, uint32_t cut)
{
	const struct gt_unwind w = { .pc = 4711, .fp = fp, .lo = hi ? fp : 0, .hi = hi };
	uint64_t hash;

	ask->w = w;
	ask->depth = depth;
	hash = answer(ASK_HASH);
	CHECK_EQUAL(ask->w.n, n);
	CHECK_EQUAL(ask->w.cut, cut);
	CHECK_EQUAL(hash >> 56, n);
	ask->w = w;
	ask->size = GT_STACK_MAX * 8;
	memset(ask->data, 0, sizeof(ask->data));
	CHECK(answer(ASK_PCS) == hash);
	CHECK(ask->w.n == n && ask->w.cut == cut && ask->data[0] == 4711);
	CHECK(ask->data[n - 1] && !ask->data[n]);
	return true;
}

static bool test_bad_frames(void)
{
	char *pages =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct frame *last = (struct frame *)(pages + PAGE) - 1;
	const uint64_t bad[] = { 0,
				 8,
				 (uintptr_t)(pages + PAGE - 8), /* its second half is absent */
				 (uintptr_t)(pages + PAGE),
				 (uintptr_t)(pages + 2 * PAGE), /* never touched */
				 (uintptr_t)pages + 4,		/* unaligned */
				 (uintptr_t)pages + 1,
				 0x7ffffffffff8,
				 0x800000000000,
				 0xffff888000000000,
				 0xffffffff81000000,
				 ~7ull };

	CHECK(pages != MAP_FAILED && !munmap(pages + PAGE, PAGE));
	memset(pages, 1, PAGE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		CHECK(walks(bad[i], 0, GT_STACK_MAX, 1, 1));
		/* as the second frame: what is above it is unknown */
		*last = (struct frame){ bad[i], 42 };
		CHECK(walks((uintptr_t)last, 0, GT_STACK_MAX, 2, 0));
	}
	munmap(pages, PAGE);
	munmap(pages + 2 * PAGE, PAGE);
	return true;
}

static bool test_frames(void)
{
	static struct frame frames[200];
	uint64_t fp = (uintptr_t)frames;

	for (int i = 0; i < 200; i++)
		frames[i] = (struct frame){ (uintptr_t)&frames[i + 1], 1000 + i };
	frames[199].next = 0;
	CHECK(walks(fp, 0, GT_STACK_MAX, GT_STACK_MAX, 1));
	CHECK(walks(fp, 0, ~0u, GT_STACK_MAX, 1));
	CHECK(walks(fp, 0, 2, 2, 1));
	CHECK(walks(fp, 0, 0, 1, 1));
	CHECK(walks(fp, (uintptr_t)&frames[7], GT_STACK_MAX, 8, 0)); /* the stack's end */
	CHECK(walks((uintptr_t)&frames[190], 0, GT_STACK_MAX, 11, 0));
	CHECK_EQUAL(ask->data[10], 1199);
	frames[10].pc = 0;
	CHECK(walks(fp, 0, GT_STACK_MAX, 11, 0));
	/* a cycle: no frame is above the one before */
	frames[0].next = fp;
	CHECK(walks(fp, 0, GT_STACK_MAX, 2, 0));
	frames[0].next = (uintptr_t)&frames[5];
	frames[5].next = fp;
	CHECK(walks(fp, 0, GT_STACK_MAX, 3, 0));
	/* too small */
	for (ask->size = 0; ask->size < 16; ask->size++) {
		CHECK_EQUAL(answer(ASK_PCS), 0);
		CHECK(!ask->w.n && !ask->w.cut);
	}
	return true;
}

/* ---- the verifier ---- */

/* The result of loading just that program, and its log. */
static int loaded(const char *name, char *log, size_t size)
{
	struct kfuncs_bpf *object = kfuncs_bpf__open();
	struct bpf_program *program;
	int code;

	if (!object)
		return -errno;
	bpf_object__for_each_program (program, object->obj) {
		bool wanted = !strcmp(bpf_program__name(program), name);

		bpf_program__set_autoload(program, wanted);
		if (wanted)
			bpf_program__set_log_buf(program, log, size);
	}
	*log = 0;
	code = kfuncs_bpf__load(object);
	kfuncs_bpf__destroy(object);
	return code;
}

static bool test_verifier(void)
{
	static const struct {
		const char *name, *says; /* NULL: accepted */
	} programs[] = {
		{ "good_stack", NULL },
		{ "good_look_up", NULL },
		{ "bad_look_up", "NULL pointer" },
		{ "bad_hash", "NULL pointer" },
		{ "bad_pcs_unwind", "NULL pointer" },
		{ "bad_pcs", "NULL pointer" },
		{ "bad_id", "NULL pointer" },
		{ "bad_emit", "NULL pointer" },
		{ "bad_size", "memory, len" },
		{ "bad_number", "R1 type=scalar" },
	};
	static char log[65536];

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		int code = loaded(programs[i].name, log, sizeof(log));
		const char *says = programs[i].says;

		if (says ? code && strstr(log, says) : !code)
			continue;
		printf("# %s: %s\n%s", programs[i].name, strerror(-code), log);
		CHECK(!"as the verifier should");
	}
	return true;
}

static bool has_kfuncs(void)
{
	struct gt_abi abi = { .size = sizeof(abi) };
	int fd = device(), code = call(fd, GT_IOC_ABI, &abi);

	close(fd);
	return !code && abi.features & GT_FEATURE_KFUNCS;
}

int main(void)
{
	static const struct test tests[] = {
		{ "records, and invalid sizes", test_emit },
		{ "absent tails", test_tails },
		{ "sessions that do not exist, are frozen or released", test_sessions },
		{ "invalid frame pointers", test_bad_frames },
		{ "stacks that are too deep, cut by bounds, or cyclic", test_frames },
		{ "the verifier rejects NULL and invalid memory", test_verifier },
	};
	struct kfuncs_bpf *object;
	int code;

	if (!has_kfuncs()) {
		printf("KTAP version 1\n1..0 # SKIP BPF programs cannot call the module here\n");
		return 4;
	}
	object = kfuncs_bpf__open_and_load();
	if (!object || kfuncs_bpf__attach(object)) {
		printf("Bail out! the probe: %s\n", strerror(errno));
		return 1;
	}
	ask = &object->bss->ask;
	libbpf_set_print(NULL);
	code = TEST_RUN(tests);
	kfuncs_bpf__destroy(object);
	return code;
}
