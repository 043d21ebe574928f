/* SPDX-License-Identifier: GPL-2.0 */
/* The number of open descriptors of a unit test, which must be the same before and after it. */
#ifndef SELFTESTS_OPEN_FDS_H
#define SELFTESTS_OPEN_FDS_H

#include <dirent.h>

#include "unit/test.h"

/* Includes "." and "..", and the descriptor of the directory itself. */
static inline unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

#endif
