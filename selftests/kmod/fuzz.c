// SPDX-License-Identifier: GPL-2.0
/*
 * Reproducible random requests from many threads to the same few files: nearly valid, invalid
 * everywhere, at all kinds of addresses, while files are closed and opened again. Then the same
 * requests while other threads change the memory, files and mappings that the requests use, and with
 * "fail", on a kernel with fault injection, with failing allocations and copies. The kernel's log
 * shows failures.
 *
 *	fuzz [REQUESTS [SEED [fail]]]
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

/* Data of requests, and mappings of sessions, which any thread unmaps while others use them. */
#define DATA	     0x1100000000ul
#define DATA_PAGES   32
#define MAPS	     0x1200000000ul
#define MAPS_PAGES   256
#define PAGE	     4096ul

#define CHANGERS     2
#define KINDS_MAX    16

static int total = 200000; /* requests of all threads */
static uint64_t seed = 1;
static bool failing;	   /* allocations and copies fail */
static uint64_t others;	   /* memory of the sessions of other programs */
static volatile bool over; /* all requests were made */

struct fuzzer {
	pthread_t thread;
	uint64_t state;
	uint8_t *scratch;
	uint64_t answers[256];			    /* results by errno */
	uint64_t tried[KINDS_MAX], done[KINDS_MAX]; /* by the row of requests[] or changes[] */
	int fail_nth; /* /proc/thread-self/fail-nth, if may_fail is set */
	uint64_t failed;
	bool may_fail, is_child;
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
	case 5 ... 7:
		return DATA + random_of(f, DATA_PAGES * PAGE);
	case 8:
		return MAPS + random_of(f, MAPS_PAGES * PAGE);
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
	const char *name;
	unsigned long request;
	uint32_t size, weight;
} requests[] = {
	{ "abi", GT_IOC_ABI, sizeof(struct gt_abi), 8 },
	{ "create", GT_IOC_CREATE, sizeof(struct gt_abi_create), 4 },
	{ "info", GT_IOC_INFO, sizeof(struct gt_abi_info), 12 },
	{ "claim", GT_IOC_CLAIM, sizeof(struct gt_abi_claim), 6 },
	{ "list", GT_IOC_LIST, sizeof(struct gt_abi_list), 6 },
	{ "checkpoint", GT_IOC_CHECKPOINT, sizeof(struct gt_abi_checkpoint), 10 },
	{ "read checkpoint", GT_IOC_READ_CHECKPOINT, sizeof(struct gt_abi_checkpoint), 14 },
	{ "emit", GT_IOC_EMIT, sizeof(struct gt_abi_emit), 26 },
	{ "positions", GT_IOC_POSITIONS, sizeof(struct gt_abi_positions), 14 },
	{ "freeze", GT_IOC_FREEZE, 0, 0 },
	{ "release", GT_IOC_RELEASE, 0, 0 },
	{ "unknown", 0, 0, 0 },
};
#define REQUESTS_N (sizeof(requests) / sizeof(*requests))
enum { FREEZE = REQUESTS_N - 3, RELEASE, UNKNOWN };

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
	unsigned long request;
	void *at = a;
	int code;

	if (chance(f, 1)) {
		i = chance(f, 50) ? FREEZE : RELEASE;
		at = NULL;
	} else if (chance(f, 3)) {
		i = UNKNOWN;
	} else {
		while (weight >= requests[i].weight)
			weight -= requests[i++].weight;
		random_argument(f, requests[i].request, requests[i].size, a);
		if (chance(f, 3))
			at = (void *)random_address(f);
	}
	request = requests[i].request;
	if (i == UNKNOWN)
		request = _IOC(random_of(f, 4), 'g', random_of(f, 256), f->state % 512);
	code = call(random_file(f), request, at);
	f->tried[i]++;
	f->done[i] += !code;
	return code;
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

/*
 * Makes the n-th allocation or copy in the kernel fail that this thread asks for from now on. 0: none;
 * counts whether one has failed.
 */
static void fail_at(struct fuzzer *f, unsigned int n)
{
	char text[16] = "";

	if (!n && pread(f->fail_nth, text, sizeof(text) - 1, 0) > 0)
		f->failed += !atoi(text);
	snprintf(text, sizeof(text), "%u", n);
	while (pwrite(f->fail_nth, text, strlen(text), 0) < 0)
		; /* its own copy was the one that failed */
}

static int request_that_may_fail(struct fuzzer *f)
{
	int code;

	if (!f->may_fail || chance(f, 80))
		return random_request(f);
	fail_at(f, 1 + random_of(f, 30));
	code = random_request(f);
	fail_at(f, 0);
	return code;
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;

	if (f->may_fail)
		f->fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (f->fail_nth < 0)
		abort(); /* the kernel has no fault injection */
	for (int i = 0; i < total / THREADS; i++) {
		f->answers[-request_that_may_fail(f) & 255]++;
		if (chance(f, 2))
			random_use(f);
		if (!random_of(f, 100))
			replace_file(f, random_file(f));
	}
	if (f->may_fail)
		close(f->fail_nth);
	return NULL;
}

/* ---- changes of what the requests use ---- */

static void *random_map(struct fuzzer *f, uint64_t pages)
{
	return (void *)(MAPS + PAGE * random_of(f, MAPS_PAGES - pages + 1));
}

static bool map_with(struct fuzzer *f, int protection)
{
	uint64_t pages = 1 + random_of(f, 60);

	return mmap(random_map(f, pages), pages * PAGE, protection,
		    MAP_FIXED | (chance(f, 80) ? MAP_SHARED : MAP_PRIVATE), random_file(f),
		    PAGE * random_of(f, 40)) != MAP_FAILED;
}

static bool change_map(struct fuzzer *f)
{
	return map_with(f, chance(f, 80) ? PROT_READ : PROT_NONE);
}

static bool change_unmap(struct fuzzer *f)
{
	return !munmap(random_map(f, 8), PAGE * (1 + random_of(f, 8)));
}

static bool change_move(struct fuzzer *f)
{
	uint64_t bytes = PAGE * (1 + random_of(f, 8));

	return mremap(random_map(f, 8), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		      random_map(f, 8)) != MAP_FAILED;
}

static bool change_advice(struct fuzzer *f)
{
	static const int advice[] = { MADV_DONTNEED, MADV_WILLNEED, MADV_DONTFORK, MADV_DOFORK,
				      MADV_REMOVE,   MADV_COLD,	    MADV_PAGEOUT,  MADV_FREE };

	return !madvise(random_map(f, 4), 4 * PAGE, advice[random_of(f, 8)]);
}

/* Without a signal where nothing is mapped. */
static bool read_map(struct fuzzer *f)
{
	uint8_t bytes[64];
	struct iovec to = { bytes, sizeof(bytes) }, from = { random_map(f, 1), sizeof(bytes) };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) > 0;
}

static bool write_map(struct fuzzer *f)
{
	void *at = random_map(f, 1);
	int file;
	bool done;

	if (chance(f, 40))
		return map_with(f, PROT_READ | (chance(f, 50) ? PROT_WRITE : PROT_EXEC));
	if (chance(f, 40))
		return !mprotect(at, PAGE, PROT_READ | PROT_WRITE);
	file = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	done = pwrite(file, "", 1, (uintptr_t)at) > 0;
	close(file);
	return done;
}

static bool change_data(struct fuzzer *f)
{
	void *at = (void *)(DATA + PAGE * random_of(f, DATA_PAGES - 3));

	if (chance(f, 20))
		return !munmap(at, 4 * PAGE);
	return mmap(at, 4 * PAGE, chance(f, 70) ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/* While the kernel copies and checks them. */
static bool change_arguments(struct fuzzer *f)
{
	volatile uint8_t *at = SCRATCH + random_of(f, THREADS) * 64 * MIB + 4096;

	for (int i = 0; i < 100; i++)
		at[random_of(f, sizeof(union argument))] = f->state;
	return true;
}

static bool open_file(struct fuzzer *f)
{
	replace_file(f, random_file(f));
	return true;
}

static bool duplicate_file(struct fuzzer *f)
{
	return dup3(random_file(f), random_file(f), O_CLOEXEC) >= 0;
}

static bool close_file(struct fuzzer *f)
{
	return chance(f, 20) && !close(random_file(f));
}

static bool change_limit(struct fuzzer *f)
{
	char text[32];
	int file = open("/sys/module/gotrace/parameters/max_memory", O_WRONLY | O_CLOEXEC);
	int n = snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)(others + 2 * MIB + random_of(f, 6 * MIB)));
	bool done = write(file, chance(f, 90) ? text : "many", n) == n;

	close(file);
	return done;
}

static bool unload(struct fuzzer *f)
{
	return !syscall(SYS_delete_module, "gotrace", O_NONBLOCK);
}

static void change(struct fuzzer *f);

/* The child has copies of all descriptors and mappings. Half of the children are killed. */
static bool fork_child(struct fuzzer *f)
{
	pid_t pid = f->is_child || chance(f, 90) ? -1 : fork();

	if (!pid) {
		f->is_child = true;
		for (int i = 0; i < 50; i++) {
			random_request(f);
			change(f);
		}
		_exit(0);
	}
	if (pid < 0)
		return false;
	usleep(random_of(f, 5000));
	if (chance(f, 50))
		kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid;
}

static const struct {
	const char *name;
	bool (*make)(struct fuzzer *f);
	bool refused; /* always */
} changes[] = {
	{ "map a session", change_map },       { "unmap a session", change_unmap },
	{ "move a mapping", change_move },     { "give advice on a mapping", change_advice },
	{ "read a mapping", read_map },	       { "write to a mapping", write_map, true },
	{ "map or unmap data", change_data },  { "overwrite arguments", change_arguments },
	{ "open a file", open_file },	       { "duplicate a descriptor", duplicate_file },
	{ "close a descriptor", close_file },  { "set max_memory", change_limit },
	{ "unload the module", unload, true }, { "fork", fork_child },
};
#define CHANGES_N (sizeof(changes) / sizeof(*changes))
_Static_assert(CHANGES_N <= KINDS_MAX && REQUESTS_N <= KINDS_MAX, "counters of struct fuzzer");

static void change(struct fuzzer *f)
{
	unsigned int i = random_of(f, CHANGES_N);

	f->tried[i]++;
	f->done[i] += changes[i].make(f);
}

static void *change_until_over(void *arg)
{
	while (!over)
		change(arg);
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
		if (fd == -ENOENT || fd == -EBUSY)
			continue; /* its timeout has passed, or it is that of another program */
		CHECK(fd >= 0);
		CHECK_EQUAL(call(fd, GT_IOC_RELEASE, NULL), 0);
		close(fd);
	}
	return true;
}

static bool show_answers(const struct fuzzer *fuzzers, bool changing)
{
	static const int known[] = { 0,	    EINVAL, EFAULT,  ENOENT,	ENOMEM, ENOSPC, EEXIST,
				     EBUSY, EBADFD, ENODATA, ESHUTDOWN, E2BIG,	ENOTTY, EBADF };
	uint64_t sums[256] = { 0 }, rest = total / THREADS * THREADS;

	for (int i = 0; i < THREADS; i++)
		for (int e = 0; e < 256; e++)
			sums[e] += fuzzers[i].answers[e];
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) - !changing; i++) {
		printf("# %s: %llu\n", known[i] ? strerror(known[i]) : "done",
		       (unsigned long long)sums[known[i]]);
		rest -= sums[known[i]];
		CHECK(sums[known[i]] > 0);
	}
	CHECK_EQUAL(rest, 0);
	return true;
}

static uint64_t show_kind(const char *name, const struct fuzzer *fuzzers, int n, unsigned int kind)
{
	uint64_t tried = 0, done = 0;

	for (int i = 0; i < n; i++) {
		tried += fuzzers[i].tried[kind];
		done += fuzzers[i].done[kind];
	}
	printf("# %s: %llu, successful: %llu\n", name, (unsigned long long)tried,
	       (unsigned long long)done);
	return done;
}

static bool show_kinds(const struct fuzzer *fuzzers, const struct fuzzer *changers)
{
	uint64_t failed = 0;

	for (unsigned int i = 0; i < REQUESTS_N; i++)
		CHECK(show_kind(requests[i].name, fuzzers, THREADS, i) || i == UNKNOWN);
	for (unsigned int i = 0; i < CHANGES_N; i++)
		CHECK(!show_kind(changes[i].name, changers, CHANGERS, i) == changes[i].refused);
	for (int i = 0; i < THREADS; i++)
		failed += fuzzers[i].failed;
	printf("# requests with a failed allocation or copy: %llu\n", (unsigned long long)failed);
	CHECK(failed > 0 || !failing);
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

static bool make_requests(struct fuzzer *fuzzers, struct fuzzer *changers, int changers_n)
{
	uint64_t max = parameter("max_memory");
	int fd = device(); /* the module is in use all the time */

	others = parameter("memory");
	CHECK(set_parameter("max_memory", others + 4 * MIB));
	for (int i = 0; i < THREADS; i++)
		fuzzers[i].state = 0x9e3779b97f4a7c15 * (seed + i);
	for (int i = 0; i < FILES; i++)
		replace_file(&fuzzers[0], FIRST_FILE + i);
	for (int i = 0; i < THREADS; i++) {
		struct fuzzer *f = &fuzzers[i];

		f->scratch = mmap(SCRATCH + i * 64 * MIB, SCRATCH_SIZE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		CHECK(f->scratch == SCRATCH + i * 64 * MIB);
	}
	over = false;
	for (int i = 0; i < changers_n; i++) {
		changers[i].state = 0xd1342543de82ef95 * (seed + i);
		changers[i].scratch = fuzzers[i].scratch;
		CHECK(!pthread_create(&changers[i].thread, NULL, change_until_over, &changers[i]));
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&fuzzers[i].thread, NULL, fuzz, &fuzzers[i]));
	for (int i = 0; i < THREADS; i++)
		pthread_join(fuzzers[i].thread, NULL);
	over = true;
	for (int i = 0; i < changers_n; i++)
		pthread_join(changers[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		munmap(fuzzers[i].scratch, SCRATCH_SIZE);
	for (int i = 0; i < FILES; i++)
		close(FIRST_FILE + i);
	munmap((void *)DATA, DATA_PAGES * PAGE);
	munmap((void *)MAPS, MAPS_PAGES * PAGE);
	CHECK(set_parameter("max_memory", max));
	close(fd);
	return release_all();
}

static bool test_requests(void)
{
	static struct fuzzer fuzzers[THREADS];

	return make_requests(fuzzers, NULL, 0) && show_answers(fuzzers, false) && still_works();
}

static bool test_changes(void)
{
	static struct fuzzer fuzzers[THREADS], changers[CHANGERS];

	for (int i = 0; i < THREADS; i++)
		fuzzers[i].may_fail = failing;
	return make_requests(fuzzers, changers, CHANGERS) && show_kinds(fuzzers, changers) &&
	       show_answers(fuzzers, true) && still_works();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "random requests of four threads at the same files", test_requests },
		{ "the same while memory, files and mappings change", test_changes },
	};

	if (argc > 1)
		total = atoi(argv[1]);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	failing = argc > 3;
	printf("# %d requests, seed %llu\n", total, (unsigned long long)seed);
	return TEST_RUN(tests);
}
