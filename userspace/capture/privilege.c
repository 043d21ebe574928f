// SPDX-License-Identifier: GPL-2.0
/*
 * Drops capabilities after the last attach: see privilege.h. Links stay attached by their file
 * descriptors, and reading maps by descriptor requires no capability.
 */
#include "capture/privilege.h"

#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "lib/log.h"

static const struct {
	unsigned int purpose;
	cap_value_t cap;
} uses[] = {
	{ PRIVILEGE_READ, CAP_SYS_PTRACE },	    { PRIVILEGE_MODULES, CAP_CHECKPOINT_RESTORE },
	{ PRIVILEGE_MODULES, CAP_DAC_READ_SEARCH }, { PRIVILEGE_COMMAND, CAP_KILL },
	{ PRIVILEGE_FOLDER, CAP_DAC_OVERRIDE },	    { PRIVILEGE_FOLDER, CAP_FOWNER },
	{ PRIVILEGE_EVENTS, CAP_PERFMON },	    { PRIVILEGE_UPROBES, CAP_PERFMON },
	{ PRIVILEGE_UPROBES, CAP_SYS_ADMIN },
};

static bool is_needed(unsigned int keep, cap_value_t cap)
{
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (uses[i].cap == cap && uses[i].purpose & keep)
			return true;
	return false;
}

/*
 * Requires CAP_SETPCAP; without it, only no_new_privs prevents an exec from gaining capabilities.
 */
static void empty_bounding_set(void)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_drop_bound(cap))
			return;
}

void privilege__drop(unsigned int keep)
{
	cap_t had = cap_get_proc(), left = cap_init();
	cap_flag_value_t is_set;

	empty_bounding_set();
	for (size_t i = 0; had && left && i < sizeof(uses) / sizeof(uses[0]); i++) {
		cap_value_t cap = uses[i].cap;

		if (!is_needed(keep, cap) || cap_get_flag(had, cap, CAP_PERMITTED, &is_set) ||
		    is_set != CAP_SET)
			continue;
		cap_set_flag(left, CAP_PERMITTED, 1, &cap, CAP_SET);
		cap_set_flag(left, CAP_EFFECTIVE, 1, &cap, CAP_SET);
	}
	/* This also removes the ambient capabilities: they must be permitted and inheritable. */
	if (!left || cap_set_proc(left))
		log__debug("cannot drop privileges");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log__debug("cannot set no_new_privs");
	cap_free(had);
	cap_free(left);
}
