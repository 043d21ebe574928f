// SPDX-License-Identifier: GPL-2.0
/* Implements priority.h. */
#include "capture/priority.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"

/* struct sched_attr of linux/sched/types.h, which older C libraries' <sched.h> conflicts with. */
struct attr {
	__u32 size, policy;
	__u64 flags;
	__s32 nice;
	__u32 priority;
	__u64 runtime, deadline, period; /* ns */
};

void priority__guarantee(void)
{
	const struct attr attr = {
		.size = sizeof(attr),
		.policy = SCHED_DEADLINE,
		.flags = SCHED_FLAG_RESET_ON_FORK,
		.runtime = 20 * MS,
		.deadline = 25 * MS,
		.period = 25 * MS,
	};

	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		log__debug("no guaranteed CPU time for the recorder: %s", strerror(errno));
}
