// SPDX-License-Identifier: GPL-2.0
/* What the kernel module's tests share: see test.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

void test__say(const char *file, int line, const char *text)
{
	printf("# %s:%d: not so: %s\n", file, line, text);
}

int test__run(const struct test *tests, size_t n)
{
	uint64_t sessions, memory;
	size_t failures = 0;
	bool good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	close(device());
	sessions = parameter("sessions");
	memory = parameter("memory");
	printf("KTAP version 1\n1..%zu\n", n + 1);
	for (size_t i = 0; i < n; i++) {
		good = tests[i].run();
		failures += !good;
		printf("%s %zu %s\n", good ? "ok" : "not ok", i + 1, tests[i].name);
	}
	good = parameter("sessions") == sessions && parameter("memory") == memory;
	if (!good)
		printf("# %" PRIu64 " sessions of %" PRIu64 " bytes, before: %" PRIu64
		       " of %" PRIu64 "\n",
		       parameter("sessions"), parameter("memory"), sessions, memory);
	printf("%s %zu nothing is left behind\n", good ? "ok" : "not ok", n + 1);
	return failures || !good;
}

static void die(const char *what, int code)
{
	printf("Bail out! %s: %s\n", what, strerror(-code));
	exit(1);
}

int call(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? -errno : 0;
}

int device(void)
{
	int fd = open(GT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("cannot open " GT_DEVICE " (modprobe gotrace, and be root)", -errno);
	return fd;
}

struct gt_abi_create small(const char *name, unsigned int flags)
{
	struct gt_abi_create want = {
		.size = sizeof(want),
		.flags = flags,
		.rings = 1,
		.subbuf_size = GT_SUBBUF_MIN,
		.subbufs = GT_SUBBUFS_MIN,
		.stack_words = GT_STACK_WORDS_MIN,
		.checkpoint_max = 1 << 20,
	};

	strncpy(want.name, name, sizeof(want.name) - 1);
	return want;
}

int session(struct gt_abi_create *want)
{
	int fd = device(), code = call(fd, GT_IOC_CREATE, want);

	if (code)
		die("cannot create a session", code);
	return fd;
}

const struct gt_session_page *map(int fd, uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

int claim(const char *name, struct gt_abi_claim *ret)
{
	int fd = device(), code;

	*ret = (struct gt_abi_claim){ .size = sizeof(*ret) };
	strncpy(ret->name, name, sizeof(ret->name) - 1);
	code = call(fd, GT_IOC_CLAIM, ret);
	if (!code)
		return fd;
	close(fd);
	return code;
}

bool find(const char *name, struct gt_abi_info *ret)
{
	struct gt_abi_info infos[GT_SESSIONS_MAX];
	struct gt_abi_list list = { .size = sizeof(list),
				    .count = GT_SESSIONS_MAX,
				    .infos = (uintptr_t)infos,
				    .info_size = sizeof(*infos) };
	int fd = device(), code = call(fd, GT_IOC_LIST, &list);

	close(fd);
	if (code)
		die("cannot list the sessions", code);
	for (uint32_t i = 0; i < list.count; i++)
		if (!strcmp(infos[i].name, name)) {
			*ret = infos[i];
			return true;
		}
	return false;
}

static FILE *open_parameter(const char *name, const char *mode)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/gotrace/parameters/%s", name);
	return fopen(path, mode);
}

uint64_t parameter(const char *name)
{
	FILE *file = open_parameter(name, "r");
	uint64_t value;

	if (!file || fscanf(file, "%" SCNu64, &value) != 1)
		die(name, -errno);
	fclose(file);
	return value;
}

uint64_t session_memory(const struct gt_abi_create *created)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return created->bytes + (created->rings * 32ull + page - 1) / page * page;
}

bool set_parameter(const char *name, uint64_t value)
{
	FILE *file = open_parameter(name, "w");

	if (!file)
		return false;
	fprintf(file, "%" PRIu64 "\n", value);
	return !fclose(file);
}

/* ---- records ---- */

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The record determined by `object`, a writer and a number; other members except `kind` are 0. */
static size_t make_record(uint64_t object, void *at, uint8_t *tail, uint32_t *ret_tail)
{
	static const uint16_t kinds[] = { GT_EXEC, GT_EXECUTE, GT_CREATE_SYSCALL, GT_CREATE,
					  GT_TEXT };
	struct gt_record *rec = at;
	uint64_t *payload = (uint64_t *)(rec + 1), x = mixed(object);
	int size;

	memset(rec, 0, sizeof(*rec));
	rec->object = object;
	rec->kind = kinds[x % 5];
	size = gt_payload_size(rec->kind);
	for (int i = 0; i < size / 8; i++)
		payload[i] = mixed(x + i);
	*ret_tail = 0;
	if (rec->kind == GT_TEXT) {
		*ret_tail = x / 5 % 16 ? x / 80 % 40 : x / 80 % (GT_TEXT_MAX + 1);
		*payload = *ret_tail;
		for (uint32_t i = 0; i < *ret_tail; i++)
			tail[i] = x >> i % 57;
	}
	return sizeof(*rec) + size;
}

int emit (int fd, uint32_t writer, uint32_t number)
{
	uint64_t record[7];
	uint8_t tail[GT_TEXT_MAX];
	struct gt_abi_emit emit = { .size = sizeof(emit), .record = (uintptr_t)record };

	emit
		.record_size =
			make_record((uint64_t)writer << 32 | number, record, tail, &emit.tail_size);
	emit
		.tail = emit.tail_size ? (uintptr_t)tail : 0;
	return call(fd, GT_IOC_EMIT, &emit);
}

size_t record_size(const void *at, size_t room)
{
	const struct gt_record *rec = at;
	uint64_t wanted[7];
	uint8_t tail[GT_TEXT_MAX + 8] = { 0 };
	struct gt_record *header = (struct gt_record *)wanted;
	uint32_t tail_size, padded;
	size_t size;

	if (room < sizeof(*rec))
		return 0;
	size = make_record(rec->object, wanted, tail, &tail_size);
	padded = (tail_size + 7) & ~7u;
	memset(tail + tail_size, 0, padded - tail_size);
	header->time = rec->time;
	header->cpu = rec->cpu;
	header->seq = rec->seq;
	if (!rec->time || room < size + padded || memcmp(at, wanted, size) ||
	    memcmp((const uint8_t *)at + size, tail, padded))
		return 0;
	return size + padded;
}

/* ---- rings ---- */

const struct gt_ring_control *ring(const struct gt_session_page *page, uint32_t i)
{
	return (const void *)((const uint8_t *)page + page->control_offset +
			      i * page->control_stride);
}

int subbuf__copy(const struct gt_session_page *page, uint32_t i, uint64_t number,
		 struct subbuf *ret)
{
	const struct gt_ring_control *control = ring(page, i);
	uint64_t slot = number % page->subbufs, size = page->subbuf_size;
	const uint8_t *at =
		(const uint8_t *)page + page->ring_offset + i * page->ring_stride + slot * size;
	uint64_t count = __atomic_load_n(&control->committed[slot], __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&control->head, __ATOMIC_ACQUIRE);
	uint64_t laps = number / page->subbufs;
	bool whole = count == (laps + 1) * size;

	if (head / size >= number + page->subbufs)
		return -1;
	if (!whole &&
	    (head / size != number || count != laps * size + head % size || !(head % size)))
		return 0;
	memcpy(ret->bytes, at, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&control->head, __ATOMIC_RELAXED) / size >= number + page->subbufs)
		return -1;
	ret->number = ((struct gt_subbuf *)ret->bytes)->number;
	ret->used = whole ? ((struct gt_subbuf *)ret->bytes)->used : head % size;
	return 1;
}

int checkpoint(int fd, unsigned long request, void *data, uint64_t bytes, uint32_t which,
	       uint64_t *ret_bytes)
{
	struct gt_abi_checkpoint arg = {
		.size = sizeof(arg), .which = which, .data = (uintptr_t)data, .bytes = bytes
	};
	int code = call(fd, request, &arg);

	*ret_bytes = arg.bytes;
	return code;
}

int write_checkpoint(int fd, char fill, uint64_t bytes)
{
	char *data = malloc(bytes + 1);
	uint64_t ignored;
	int code;

	memset(data, fill, bytes);
	code = checkpoint(fd, GT_IOC_CHECKPOINT, data, bytes, 0, &ignored);
	free(data);
	return code;
}

bool checkpoint_is(int fd, uint32_t which, char fill, uint64_t bytes)
{
	char *data = malloc(bytes + 1);
	uint64_t got, needed;
	bool good = true;

	CHECK(data);
	CHECK_EQUAL(checkpoint(fd, GT_IOC_READ_CHECKPOINT, data, bytes - 1, which, &needed),
		    -ENOSPC);
	CHECK_EQUAL(needed, bytes);
	CHECK_EQUAL(checkpoint(fd, GT_IOC_READ_CHECKPOINT, data, bytes + 1, which, &got), 0);
	CHECK_EQUAL(got, bytes);
	for (uint64_t i = 0; i < bytes; i++)
		good = good && data[i] == fill;
	free(data);
	return good;
}

void end(pid_t pid, int signal)
{
	kill(pid, signal);
	waitpid(pid, NULL, 0);
}

bool gone(const char *name, int seconds)
{
	struct gt_abi_info info;

	for (int i = 0; i < seconds * 20; i++) {
		if (!find(name, &info))
			return true;
		usleep(50000);
	}
	return false;
}
