// SPDX-License-Identifier: GPL-2.0
/* What this process holds, of what the kernel says in /proc/self/status, which is this file's. */
#include "unit/test.h"
#include "budget/memory.h"

static const char *status;
static char cleared[8];

FILE *fopen(const char *path, const char *mode)
{
	if (!strcmp(path, "/proc/self/status"))
		return status ? fmemopen((void *)status, strlen(status), "r") : NULL;
	assert_string_equal(path, "/proc/self/clear_refs");
	return fmemopen(cleared, sizeof(cleared), "w");
}

TEST(held_now)
{
	uint64_t peak = 0;

	status =
		"Name:\tx\nVmHWM:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t  300 kB\nRssShmem:\t  20 kB\n";
	memory__sample(&peak);
	assert_int_equal(peak, 120 << 10);
	status = "RssAnon:\t  99 kB\nRssShmem:\t  20 kB\n";
	memory__sample(&peak);
	assert_int_equal(peak, 120 << 10);
	status = NULL;
	memory__sample(&peak);
	assert_int_equal(peak, 120 << 10);
}

/* The high-water mark counts the program's file, too, which is not needed. */
TEST(high_water_mark)
{
	uint64_t peak = 500 << 10;

	memory__begin();
	assert_string_equal(cleared, "5");
	status = "VmHWM:\t  900 kB\nRssFile:\t  300 kB\n";
	memory__peak(&peak);
	assert_int_equal(peak, 600 << 10);
	status = "VmHWM:\t  800 kB\nRssFile:\t  300 kB\n";
	memory__peak(&peak);
	assert_int_equal(peak, 600 << 10);
	status = "VmHWM:\t  300 kB\nRssFile:\t  301 kB\n";
	memory__peak(&peak);
	assert_int_equal(peak, 600 << 10);
}
