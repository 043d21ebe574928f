// SPDX-License-Identifier: GPL-2.0
/*
 * Capabilities given up after the last attach: see privilege.h. Links stay attached by their file
 * descriptors, and reading maps by theirs needs none.
 */
#include "capture/privilege.h"

#include <sys/capability.h>

#include "lib/log.h"

void privilege__drop(void)
{
	cap_value_t keep[] = { CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SYS_PTRACE };
	const int n = sizeof(keep) / sizeof(keep[0]);
	cap_t had = cap_get_proc(), left = cap_init();
	cap_flag_value_t is_set;

	for (int i = 0; had && left && i < n; i++) {
		if (cap_get_flag(had, keep[i], CAP_PERMITTED, &is_set) || is_set != CAP_SET)
			continue;
		cap_set_flag(left, CAP_PERMITTED, 1, &keep[i], CAP_SET);
		cap_set_flag(left, CAP_EFFECTIVE, 1, &keep[i], CAP_SET);
	}
	if (!left || cap_set_proc(left))
		log__debug("privileges were not dropped");
	cap_free(had);
	cap_free(left);
}

bool privilege__has(int cap)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t now = cap_get_proc();
	bool has = now && !cap_get_flag(now, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;

	cap_free(now);
	return has;
}
