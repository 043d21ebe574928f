/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of the kernel module: KTAP, the device, records that reveal torn writes.
 *
 * Each program is a group of tests for a machine with the module loaded, run as root. It prints one
 * line per test and exits with 1 if one failed. The last test checks that nothing was left behind.
 */
#ifndef KMOD_TEST_H
#define KMOD_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "gotrace/module.h"
#include "gotrace/record.h"
#include "gotrace/uapi.h"

struct test {
	const char *name;
	bool (*run)(void);
};

/* Leaves the test that contains it. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test__say(__FILE__, __LINE__, #condition);                                 \
			return false;                                                              \
		}                                                                                  \
	} while (0)

/* The same for numbers, which it prints. */
#define CHECK_EQUAL(a, b)                                                                          \
	do {                                                                                       \
		long long a_ = (a), b_ = (b);                                                      \
		if (a_ != b_) {                                                                    \
			test__say(__FILE__, __LINE__, #a " == " #b);                               \
			printf("# %lld, not %lld\n", a_, b_);                                      \
			return false;                                                              \
		}                                                                                  \
	} while (0)

void test__say(const char *file, int line, const char *text);
/* Runs the tests, and one that checks that nothing is left. Returns the program's exit status. */
int test__run(const struct test *tests, size_t n);
#define TEST_RUN(tests) test__run(tests, sizeof(tests) / sizeof((tests)[0]))

/* 0 or a negative errno. */
int call(int fd, unsigned long request, void *argument);
/* A new file of the device. Ends the program on failure. */
int device(void);
/* Arguments to create a small session: one ring of four sub-buffers of 16 KiB. */
struct gt_abi_create small(const char *name, unsigned int flags);
/* A file that owns the session; ends the program on failure. */
int session(struct gt_abi_create *want);
/* Maps the file's session read-only; NULL: failed. */
const struct gt_session_page *map(int fd, uint64_t bytes);
/* A file that has claimed the kept session of that name, or a negative errno. */
int claim(const char *name, struct gt_abi_claim *ret);
/* Looks up the session of that name; false: none. */
bool find(const char *name, struct gt_abi_info *ret);
/* /sys/module/gotrace/parameters/NAME */
uint64_t parameter(const char *name);
/* What the parameter "memory" has of a session until it ends: its area, and what the rings' writers need. */
uint64_t session_memory(const struct gt_abi_create *created);
bool set_parameter(const char *name, uint64_t value);

/* Sends the child a signal and waits for its end. */
void end(pid_t pid, int signal);
/* Whether the kept session of that name ends within so many seconds. */
bool gone(const char *name, int seconds);

/* ---- checkpoints ---- */

/* GT_IOC_CHECKPOINT or GT_IOC_READ_CHECKPOINT: 0 or a negative errno, and the checkpoint's size. */
int checkpoint(int fd, unsigned long request, void *data, uint64_t bytes, uint32_t which,
	       uint64_t *ret_bytes);
/* Writes a checkpoint of so many bytes `fill`. 0 or a negative errno. */
int write_checkpoint(int fd, char fill, uint64_t bytes);
/* Whether the latest checkpoint (`which` 0) or the one before it (1) is that. */
bool checkpoint_is(int fd, uint32_t which, char fill, uint64_t bytes);

/* ---- records: their contents follow from the writer and a number ---- */

#define RECORD_MAX (sizeof(struct gt_record) + 24 + GT_TEXT_MAX)

/* 0 or a negative errno. */
int emit (int fd, uint32_t writer, uint32_t number);
/* Bytes of the record at `at`; 0: emit() did not make it. */
size_t record_size(const void *at, size_t room);

/* ---- a ring in mapped memory ---- */

struct subbuf {
	uint64_t number;
	uint32_t used;	/* bytes in use */
	uint8_t *bytes; /* page->subbuf_size bytes, owned by the caller */
};

const struct gt_ring_control *ring(const struct gt_session_page *page, uint32_t i);
/*
 * Copies sub-buffer `number` of ring i. 1: all of it, or all up to the head; 0: it does not exist
 * yet, or is still being written; -1: it was overwritten.
 */
int subbuf__copy(const struct gt_session_page *page, uint32_t i, uint64_t number,
		 struct subbuf *ret);

#endif
