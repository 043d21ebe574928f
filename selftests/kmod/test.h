/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel module's tests share: KTAP, the device, records that can be told from torn ones.
 *
 * Each program here is a group of tests for a machine that has the module loaded, run as root. It
 * prints a line a test and exits with 1 if one failed. The last of each is that it left nothing
 * behind.
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

/* Leaves the test that it stands in. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test__say(__FILE__, __LINE__, #condition);                                 \
			return false;                                                              \
		}                                                                                  \
	} while (0)

/* The same for numbers, which it shows. */
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
/* Runs them, and the one about what is left behind. The program's exit status. */
int test__run(const struct test *tests, size_t n);
#define TEST_RUN(tests) test__run(tests, sizeof(tests) / sizeof((tests)[0]))

/* 0 or a negative errno. */
int call(int fd, unsigned long request, void *argument);
/* A new file of the device. Ends the program if there is none. */
int device(void);
/* What to create a small session with: one ring of four sub-buffers of 16 KiB. */
struct gt_abi_create small(const char *name, unsigned int flags);
/* A file that has the session; ends the program if it cannot be had. */
int session(struct gt_abi_create *want);
/* The file's session, for reading; NULL: it cannot be mapped. */
const struct gt_session_page *map(int fd, uint64_t bytes);
/* The file that has the kept session of that name, or a negative errno. */
int claim(const char *name, struct gt_abi_claim *ret);
/* Of the one with that name; false: there is none. */
bool find(const char *name, struct gt_abi_info *ret);
/* /sys/module/gotrace/parameters/NAME */
uint64_t parameter(const char *name);
bool set_parameter(const char *name, uint64_t value);

/* Sends the child a signal and waits for its end. */
void end(pid_t pid, int signal);
/* The kept session of that name ends within so many seconds. */
bool gone(const char *name, int seconds);

/* ---- checkpoints ---- */

/* GT_IOC_CHECKPOINT or GT_IOC_READ_CHECKPOINT: 0 or a negative errno, and how many bytes it has. */
int checkpoint(int fd, unsigned long request, void *data, uint64_t bytes, uint32_t which,
	       uint64_t *ret_bytes);
/* One of so many bytes, all of them `fill`. 0 or a negative errno. */
int write_checkpoint(int fd, char fill, uint64_t bytes);
/* The latest (`which` 0) or the one before it (1) is that. */
bool checkpoint_is(int fd, uint32_t which, char fill, uint64_t bytes);

/* ---- records: what they hold follows from who wrote them, and how many before ---- */

#define RECORD_MAX (sizeof(struct gt_record) + 24 + GT_TEXT_MAX)

/* 0 or a negative errno. */
int emit (int fd, uint32_t writer, uint32_t number);
/* Bytes of the one at `at`; 0: it is not one that emit() made. */
size_t record_size(const void *at, size_t room);

/* ---- a ring in mapped memory ---- */

struct subbuf {
	uint64_t number;
	uint32_t used;	/* bytes of it */
	uint8_t *bytes; /* page->subbuf_size of them, the caller's */
};

const struct gt_ring_control *ring(const struct gt_session_page *page, uint32_t i);
/*
 * Copies sub-buffer `number` of ring i. 1: as much of it as is there, which is all or up to the
 * head; 0: it is not there yet, or still being written; -1: it was overwritten.
 */
int subbuf__copy(const struct gt_session_page *page, uint32_t i, uint64_t number,
		 struct subbuf *ret);

#endif
