// SPDX-License-Identifier: GPL-2.0
/*
 * Reproducible random requests from many threads to the same few files: nearly valid, invalid
 * everywhere, at all kinds of addresses, while files are closed and opened again. Then owners that
 * are killed at random times. The kernel's log shows failures.
 *
 *	fuzz [REQUESTS]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define THREADS	     4
#define FILES	     8
#define FIRST_FILE   200
#define MIB	     (1ull << 20)

/* Far from other memory: what the kernel writes to addresses nearby does no harm here. */
#define SCRATCH	     ((uint8_t *)0x1000000000)
#define SCRATCH_SIZE (2 * MIB)

static int total = 200000; /* requests of all threads */

struct fuzzer {
	pthread_t thread;
	uint64_t state;
	uint8_t *scratch;
	uint64_t answers[256]; /* results by errno */
};

static uint64_t random_of(struct fuzzer *f, uint64_t n)
{
	f->state ^= f->state << 13;
	f->state ^= f->state >> 7;
	f->state ^= f->state << 17;
	return f->state % n;
}

static bool chance(struct fuzzer *f, unsigned int percent)
{
	return random_of(f, 100) < percent;
}

static int random_file(struct fuzzer *f)
{
	return FIRST_FILE + random_of(f, FILES);
}

static uint64_t random_address(struct fuzzer *f)
{
	switch (random_of(f, 16)) {
	case 0:
		return 0;
	case 1:
		return random_of(f, 4096);
	case 2:
		return f->state;
	case 3:
		return 0xffff800000000000 | random_of(f, 1ull << 47);
	case 4:
		return (uintptr_t)f->scratch + SCRATCH_SIZE - random_of(f, 64); /* beyond the end */
	default:
		return (uintptr_t)f->scratch + SCRATCH_SIZE / 2 + random_of(f, 4096);
	}
}

static void random_name(struct fuzzer *f, char *name)
{
	static const char *const names[] = { "", "a", "b", "c.d", "e_f-g", "x y" };

	strcpy(name, names[random_of(f, 6)]);
}

static void random_create(struct fuzzer *f, struct gt_abi_create *a)
{
	*a = small("", random_of(f, 2) ? GT_SESSION_KEEP : 0);
	random_name(f, a->name);
	a->rings = random_of(f, 4);
	a->subbufs <<= random_of(f, 3);
	a->timeout = random_of(f, 3);
	a->checkpoint_max = random_of(f, 3) * 40000;
}

/* Replaces the file atomically: calls in progress keep the old one. */
static void replace_file(struct fuzzer *f, int file)
{
	struct gt_abi_create want;
	int fd = device();

	random_create(f, &want);
	call(fd, GT_IOC_CREATE, &want);
	if (dup3(fd, file, O_CLOEXEC) < 0)
		abort();
	close(fd);
}

static void random_emit(struct fuzzer *f, struct gt_abi_emit *a)
{
	*a = (struct gt_abi_emit){
		.size = sizeof(*a),
		.record_size = 32 + 8 * random_of(f, 4),
		.record = random_address(f),
		.tail = random_address(f),
		.tail_size = chance(f, 50) ? 0 : random_of(f, GT_TAIL_MAX + 3),
	};
}

static void random_checkpoint(struct fuzzer *f, struct gt_abi_checkpoint *a)
{
	*a = (struct gt_abi_checkpoint){
		.size = sizeof(*a),
		.which = random_of(f, 3),
		.data = random_address(f),
		.bytes = random_of(f, 90000),
	};
}

static const struct {
	unsigned long request;
	uint32_t size, weight;
} requests[] = {
	{ GT_IOC_ABI, sizeof(struct gt_abi), 8 },
	{ GT_IOC_CREATE, sizeof(struct gt_abi_create), 4 },
	{ GT_IOC_INFO, sizeof(struct gt_abi_info), 12 },
	{ GT_IOC_CLAIM, sizeof(struct gt_abi_claim), 6 },
	{ GT_IOC_LIST, sizeof(struct gt_abi_list), 6 },
	{ GT_IOC_CHECKPOINT, sizeof(struct gt_abi_checkpoint), 10 },
	{ GT_IOC_READ_CHECKPOINT, sizeof(struct gt_abi_checkpoint), 14 },
	{ GT_IOC_EMIT, sizeof(struct gt_abi_emit), 26 },
	{ GT_IOC_POSITIONS, sizeof(struct gt_abi_positions), 14 },
};

union argument {
	uint8_t bytes[256];
	uint64_t words[32];
	uint32_t size;
	struct gt_abi_create create;
	struct gt_abi_claim claim;
	struct gt_abi_list list;
	struct gt_abi_checkpoint checkpoint;
	struct gt_abi_emit emit;
	struct gt_abi_positions positions;
};

static void random_argument(struct fuzzer *f, unsigned long request, uint32_t size,
			    union argument *a)
{
	memset(a, 0, sizeof(*a));
	a->size = size;
	switch (request) {
	case GT_IOC_CREATE:
		random_create(f, &a->create);
		break;
	case GT_IOC_CLAIM:
		random_name(f, a->claim.name);
		break;
	case GT_IOC_LIST:
		a->list.count = random_of(f, 100);
		a->list.infos = random_address(f);
		a->list.info_size = sizeof(struct gt_abi_info) + 8 * random_of(f, 3);
		break;
	case GT_IOC_CHECKPOINT:
	case GT_IOC_READ_CHECKPOINT:
		random_checkpoint(f, &a->checkpoint);
		break;
	case GT_IOC_EMIT:
		random_emit(f, &a->emit);
		break;
	case GT_IOC_POSITIONS:
		a->positions.count = random_of(f, 5);
		a->positions.heads = random_address(f);
		break;
	}
	if (chance(f, 15))
		a->bytes[random_of(f, size)] ^= 1 << random_of(f, 8);
	if (chance(f, 5))
		a->words[random_of(f, size / 8)] = f->state;
}

static int random_request(struct fuzzer *f)
{
	union argument *a = (union argument *)(f->scratch + 4096);
	unsigned int weight = random_of(f, 100), i = 0;

	if (chance(f, 1))
		return call(random_file(f), chance(f, 50) ? GT_IOC_FREEZE : GT_IOC_RELEASE, NULL);
	if (chance(f, 3))
		return call(random_file(f),
			    _IOC(random_of(f, 4), 'g', random_of(f, 256), f->state % 512), a);
	while (weight >= requests[i].weight)
		weight -= requests[i++].weight;
	random_argument(f, requests[i].request, requests[i].size, a);
	if (chance(f, 3))
		return call(random_file(f), requests[i].request, (void *)random_address(f));
	return call(random_file(f), requests[i].request, a);
}

/* Other operations on a file. */
static void random_use(struct fuzzer *f)
{
	struct pollfd p = { .fd = random_file(f), .events = POLLIN };
	size_t bytes = 4096 * (1 + random_of(f, 60));
	volatile uint8_t *at;

	if (chance(f, 50)) {
		poll(&p, 1, 0);
		return;
	}
	at = mmap(NULL, bytes, 1 + random_of(f, 3), MAP_SHARED, p.fd, 4096 * random_of(f, 60));
	if (at == MAP_FAILED)
		return;
	for (size_t i = 0; i < bytes; i += 4096)
		(void)at[i];
	munmap((void *)at, bytes);
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;

	for (int i = 0; i < total / THREADS; i++) {
		f->answers[-random_request(f) & 255]++;
		if (chance(f, 2))
			random_use(f);
		if (!random_of(f, 100))
			replace_file(f, random_file(f));
	}
	return NULL;
}

static bool release_all(void)
{
	struct gt_abi_info infos[GT_SESSIONS_MAX];
	struct gt_abi_list list = { .size = sizeof(list),
				    .count = GT_SESSIONS_MAX,
				    .infos = (uintptr_t)infos,
				    .info_size = sizeof(*infos) };
	struct gt_abi_claim claimed;
	int fd = device();

	CHECK_EQUAL(call(fd, GT_IOC_LIST, &list), 0);
	close(fd);
	for (uint32_t i = 0; i < list.count; i++) {
		fd = claim(infos[i].name, &claimed);
		if (fd == -ENOENT)
			continue; /* its timeout has passed */
		CHECK(fd >= 0);
		CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
		close(fd);
	}
	return true;
}

static bool show_answers(const struct fuzzer *fuzzers)
{
	static const int known[] = { 0,	    EINVAL, EFAULT,  ENOENT,	ENOMEM, ENOSPC, EEXIST,
				     EBUSY, EBADFD, ENODATA, ESHUTDOWN, E2BIG,	ENOTTY };
	uint64_t sums[256] = { 0 }, others = total / THREADS * THREADS;

	for (int i = 0; i < THREADS; i++)
		for (int e = 0; e < 256; e++)
			sums[e] += fuzzers[i].answers[e];
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		printf("# %s: %llu\n", known[i] ? strerror(known[i]) : "done",
		       (unsigned long long)sums[known[i]]);
		others -= sums[known[i]];
		CHECK(sums[known[i]] > 0);
	}
	CHECK_EQUAL(others, 0);
	return true;
}

/* The module still works as before. */
static bool still_works(void)
{
	struct gt_abi_create want = small("after", GT_SESSION_KEEP);
	int fd = session(&want);
	const struct gt_session_page *page = map(fd, want.bytes);

	CHECK(page);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQUAL(emit (fd, 1, i), 0);
	CHECK_EQUAL(ring(page, 0)->seq, 1000);
	munmap((void *)page, want.bytes);
	CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
	close(fd);
	return true;
}

static bool test_requests(void)
{
	static struct fuzzer fuzzers[THREADS];
	uint64_t max = parameter("max_memory");

	CHECK(set_parameter("max_memory", parameter("memory") + 4 * MIB));
	for (int i = 0; i < THREADS; i++)
		fuzzers[i].state = 0x9e3779b97f4a7c15 * (i + 1);
	for (int i = 0; i < FILES; i++)
		replace_file(&fuzzers[0], FIRST_FILE + i);
	for (int i = 0; i < THREADS; i++) {
		struct fuzzer *f = &fuzzers[i];

		f->scratch = mmap(SCRATCH + i * 64 * MIB, SCRATCH_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		CHECK(f->scratch == SCRATCH + i * 64 * MIB);
		CHECK(!pthread_create(&f->thread, NULL, fuzz, f));
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(fuzzers[i].thread, NULL);
	for (int i = 0; i < FILES; i++)
		close(FIRST_FILE + i);
	CHECK(set_parameter("max_memory", max));
	return release_all() && show_answers(fuzzers) && still_works();
}

static void *emit_for_ever(void *arg)
{
	for (uint32_t i = 0;; i++)
		emit (*(int *)arg, 3, i)
			;
	return NULL;
}

/* The owner writes with three threads, and writes checkpoints, until it is killed. */
static void write_until_killed(void)
{
	struct gt_abi_create want = small("killed", GT_SESSION_KEEP);
	static uint8_t data[50000];
	struct gt_abi_checkpoint arg = { .size = sizeof(arg), .data = (uintptr_t)data };
	int fd = session(&want);
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, emit_for_ever, &fd);
	for (;;) {
		arg.bytes = 1 + arg.bytes * 7919 % sizeof(data);
		memset(data, arg.bytes, arg.bytes);
		call(fd, GT_IOC_CHECKPOINT, &arg);
	}
}

/* The session is frozen and its records are complete: writers were stopped between two records. */
static bool records_are_complete(int fd, const struct gt_session_page *page)
{
	static uint8_t data[50000];
	struct gt_abi_checkpoint arg = { .size = sizeof(arg),
					 .data = (uintptr_t)data,
					 .bytes = sizeof(data) };
	uint8_t bytes[GT_SUBBUF_MIN];
	struct subbuf copy = { .bytes = bytes };
	uint64_t last = ring(page, 0)->head / GT_SUBBUF_MIN, n = last > 3 ? last - 3 : 0;
	int code = call(fd, GT_IOC_READ_CHECKPOINT, &arg);

	CHECK(page->frozen);
	CHECK(code == 0 || code == -ENODATA);
	for (uint64_t i = 0; !code && i < arg.bytes; i++)
		CHECK(data[i] == (uint8_t)arg.bytes);
	for (; n * GT_SUBBUF_MIN < ring(page, 0)->head; n++) {
		CHECK_EQUAL(subbuf__copy(page, 0, n, &copy), 1);
		for (uint32_t at = sizeof(struct gt_subbuf); at < copy.used;) {
			size_t size = record_size(bytes + at, copy.used - at);

			CHECK(size);
			at += size;
		}
	}
	return true;
}

static bool test_killed(void)
{
	struct fuzzer f = { .state = 12345 };
	struct gt_abi_claim claimed;
	struct gt_abi_info info;

	for (int i = 0; i < 30; i++) {
		const struct gt_session_page *page;
		pid_t pid = fork();
		int fd;

		if (!pid)
			write_until_killed();
		while (!find("killed", &info))
			usleep(1000);
		usleep(random_of(&f, 30000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fd = claim("killed", &claimed);
		CHECK(fd >= 0);
		page = map(fd, claimed.bytes);
		CHECK(page && records_are_complete(fd, page));
		munmap((void *)page, claimed.bytes);
		CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
		close(fd);
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "random requests of four threads at the same files", test_requests },
		{ "recover from 30 owners killed while they write", test_killed },
	};

	if (argc > 1)
		total = atoi(argv[1]);
	printf("# %d requests\n", total);
	return TEST_RUN(tests);
}
