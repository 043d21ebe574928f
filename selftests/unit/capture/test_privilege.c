// SPDX-License-Identifier: GPL-2.0
/* Which capabilities stay when privileges are dropped. The process's are bits of this file. */
#include <sys/capability.h>
#include <sys/prctl.h>

#include "unit/test.h"
#include "capture/privilege.h"
#include "lib/capability.h"

#define CAPS	 41 /* that this kernel knows */
#define BIT(cap) (1ull << (cap))
#define ALL	 (BIT(CAPS) - 1)

struct _cap_struct {
	uint64_t permitted, effective;
};

static struct {
	struct _cap_struct process;
	uint64_t bound;
	bool setpcap_missing, no_new_privs;
	unsigned int allocated;
} t;

static cap_t make(struct _cap_struct caps)
{
	cap_t c = malloc(sizeof(*c));

	*c = caps;
	t.allocated++;
	return c;
}

cap_t cap_get_proc(void)
{
	return make(t.process);
}

cap_t cap_init(void)
{
	return make((struct _cap_struct){});
}

int cap_set_proc(cap_t c)
{
	t.process = *c;
	return 0;
}

int cap_free(void *c)
{
	t.allocated -= c != NULL;
	free(c);
	return 0;
}

int cap_get_bound(cap_value_t cap)
{
	return cap < CAPS ? !!(t.bound & BIT(cap)) : -1;
}

int cap_drop_bound(cap_value_t cap)
{
	if (t.setpcap_missing)
		return -1;
	t.bound &= ~BIT(cap);
	return 0;
}

int cap_get_flag(cap_t c, cap_value_t cap, cap_flag_t flag, cap_flag_value_t *ret)
{
	*ret = (flag == CAP_PERMITTED ? c->permitted : c->effective) & BIT(cap) ? CAP_SET :
										  CAP_CLEAR;
	return 0;
}

int cap_set_flag(cap_t c, cap_flag_t flag, int n, const cap_value_t *caps, cap_flag_value_t value)
{
	assert_int_equal(n, 1);
	assert_int_equal(value, CAP_SET);
	*(flag == CAP_PERMITTED ? &c->permitted : &c->effective) |= BIT(*caps);
	return 0;
}

int prctl(int option, ...)
{
	va_list ap;

	va_start(ap, option);
	t.no_new_privs = option == PR_SET_NO_NEW_PRIVS && va_arg(ap, int) == 1;
	va_end(ap);
	return 0;
}

static int set_up(void **state)
{
	memset(&t, 0, sizeof(t));
	t.process = (struct _cap_struct){ ALL, ALL };
	t.bound = ALL;
	return 0;
}

static int tear_down(void **state)
{
	assert_int_equal(t.allocated, 0);
	return 0;
}

FIXTURE(set_up, tear_down)

static void assert_keeps(unsigned int purposes, uint64_t caps)
{
	set_up(NULL);
	privilege__drop(purposes);
	assert_int_equal(t.process.permitted, caps);
	assert_int_equal(t.process.effective, caps);
	assert_int_equal(t.bound, 0);
	assert_true(t.no_new_privs);
}

TEST(keeps_what_is_needed)
{
	assert_keeps(0, 0);
	assert_keeps(PRIVILEGE_READ, BIT(CAP_SYS_PTRACE));
	assert_keeps(PRIVILEGE_MODULES, BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_DAC_READ_SEARCH));
	assert_keeps(PRIVILEGE_COMMAND, BIT(CAP_KILL));
	assert_keeps(PRIVILEGE_FOLDER, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER));
	assert_keeps(PRIVILEGE_OWNER, BIT(CAP_CHOWN));
	assert_keeps(PRIVILEGE_EVENTS, BIT(CAP_PERFMON));
	assert_keeps(PRIVILEGE_UPROBES, BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN));
	assert_keeps(PRIVILEGE_READ | PRIVILEGE_COMMAND, BIT(CAP_SYS_PTRACE) | BIT(CAP_KILL));
}

/*
 * What the process does not have it cannot keep: asking for it would fail, and nothing be dropped.
 */
TEST(keeps_no_more_than_it_has)
{
	t.process.permitted = BIT(CAP_KILL) | BIT(CAP_BPF);
	privilege__drop(PRIVILEGE_READ | PRIVILEGE_COMMAND);
	assert_int_equal(t.process.permitted, BIT(CAP_KILL));
	assert_int_equal(t.process.effective, BIT(CAP_KILL));
}

TEST(bounding_set_stays)
{
	t.setpcap_missing = true;
	privilege__drop(PRIVILEGE_READ);
	assert_int_equal(t.bound, ALL);
	assert_int_equal(t.process.permitted, BIT(CAP_SYS_PTRACE));
	assert_true(t.no_new_privs);
}

TEST(has)
{
	t.process.effective = BIT(CAP_KILL);
	assert_true(capability__has(CAP_KILL));
	assert_false(capability__has(CAP_BPF)); /* permitted is not enough */
}
