// SPDX-License-Identifier: GPL-2.0
/* See capability.h. Needs libcap, which the reader (gotrace) is not linked with. */
#include "lib/capability.h"

#include <sys/capability.h>

bool capability__has(int cap)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t now = cap_get_proc();
	bool has = now && !cap_get_flag(now, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;

	cap_free(now);
	return has;
}
