/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A minimal version of Go 1.25's runtime with all functions that are probed, for tests of
 * target/probe/site*.c. Include it after go_made.h. A test adds functions of its own, and renames
 * those that must be missing.
 *
 *	asm(MADE_TEXT RUNTIME_TEXT "f_own: " ENTER "ret; " MADE_TEXT_END);
 */
#ifndef UNIT_RUNTIME_MADE_H
#define UNIT_RUNTIME_MADE_H

#include "unit/test.h"
#include "target/arch/insn.h"
#include "target/probe/site.h"

#define ENTER	       "push rbp; mov rbp, rsp; "
#define STATUS(o, n)   "mov ebx, " #o "; mov ecx, " #n "; "
#define CAS(o, n)      "mov eax, " #o "; mov r10d, " #n "; lock cmpxchg [r9 + 144], r10d; "
#define DONE(label)    "sete r11b; test r11b, r11b; " label ": je .+2; "
#define NOTHING(label) label ": " ENTER "ret; "

/* Offsets of struct members, which the tests pass in struct layout. */
#define STATUS_AT      144
#define M_P_AT	       208
#define P_STATUS_AT    4
#define P_MODE_AT      0x1240

/* clang-format off */
#define RUNTIME_TEXT                                                                               \
	NOTHING("f_inliner")                                                                       \
	NOTHING("f_casgstatus")                                                                    \
	NOTHING("f_execute")                                                                       \
	"f_park_m: " ENTER STATUS(4, 1) "s_refused: call f_casgstatus; ret; "                      \
	NOTHING("f_ready")                                                                         \
	"f_find: " ENTER STATUS(4, 1) "s_found: call f_casgstatus; ret; "                          \
	"f_inject: " ENTER STATUS(4, 1) "s_injected: call f_casgstatus; ret; "                     \
	"f_worker: " ENTER STATUS(4, 1) "s_worker: call f_casgstatus; ret; "                       \
	NOTHING("f_gosched")                                                                       \
	NOTHING("f_goyield")                                                                       \
	NOTHING("f_preempt_park")                                                                  \
	NOTHING("f_runqput")                                                                       \
	NOTHING("f_newproc1")                                                                      \
	"f_newproc: " ENTER "call f_newproc1; s_newproc1: nop; s_runqput: call f_runqput; ret; "   \
	NOTHING("f_gdestroy")                                                                      \
	NOTHING("f_reenter")                                                                       \
	NOTHING("f_block")                                                                         \
	"f_exit: " ENTER STATUS(3, 2) "s_exit: call f_casgstatus; ret; "                           \
	NOTHING("f_lost")                                                                          \
	NOTHING("f_exit0")                                                                         \
	NOTHING("f_acquirep")                                                                      \
	NOTHING("f_releasep")                                                                      \
	NOTHING("f_handoffp")
/* clang-format on */

extern const unsigned char made_text[], made_text_end[], f_inliner[], f_casgstatus[], f_execute[],
	f_park_m[], s_refused[], f_ready[], f_find[], s_found[], f_inject[], s_injected[],
	f_worker[], s_worker[], f_gosched[], f_goyield[], f_preempt_park[], f_runqput[],
	f_newproc1[], f_newproc[], s_newproc1[], s_runqput[], f_gdestroy[], f_reenter[], f_block[],
	f_exit[], s_exit[], f_lost[], f_exit0[], f_acquirep[], f_releasep[], f_handoffp[];

#define RUNTIME_FUNCS                                                                              \
	{ .name = "runtime.inliner",                                                               \
	  .code = f_inliner,                                                                       \
	  .tree = { { "runtime.inlined", 0, 0 } },                                                 \
	  .inlined = { { 1, -1 }, { 2, 0 } } },                                                    \
		{ .name = "runtime.casgstatus", .code = f_casgstatus },                            \
		{ .name = "runtime.execute", .code = f_execute },                                  \
		{ .name = "runtime.park_m", .code = f_park_m },                                    \
		{ .name = "runtime.ready", .code = f_ready },                                      \
		{ .name = "runtime.findRunnable", .code = f_find },                                \
		{ .name = "runtime.injectglist", .code = f_inject },                               \
		{ .name = "runtime.(*gcControllerState).findRunnableGCWorker", .code = f_worker }, \
		{ .name = "runtime.goschedImpl", .code = f_gosched },                              \
		{ .name = "runtime.goyield_m", .code = f_goyield },                                \
		{ .name = "runtime.preemptPark", .code = f_preempt_park },                         \
		{ .name = "runtime.runqput", .code = f_runqput },                                  \
		{ .name = "runtime.newproc1", .code = f_newproc1 },                                \
		{ .name = "runtime.newproc.func1", .code = f_newproc },                            \
		{ .name = "runtime.gdestroy", .code = f_gdestroy },                                \
		{ .name = "runtime.reentersyscall", .code = f_reenter },                           \
		{ .name = "runtime.entersyscallblock", .code = f_block },                          \
		{ .name = "runtime.exitsyscall", .code = f_exit },                                 \
		{ .name = "runtime.exitsyscallfast_pidle", .code = f_lost },                       \
		{ .name = "runtime.exitsyscall0", .code = f_exit0 },                               \
		{ .name = "runtime.acquirep", .code = f_acquirep },                                \
		{ .name = "runtime.releasepNoTrace", .code = f_releasep },                         \
	{                                                                                          \
		.name = "runtime.handoffp", .code = f_handoffp                                     \
	}

#define RUNTIME_N 23 /* functions */

/* A program of these functions and those of a test, and its sites. */
struct runtime {
	struct made_func func[64];
	size_t n;
	const char *release;
	struct go_made made;
	struct layout layout;
	struct site_list sites;
	struct error err;
	int code;
};

/* *r is zero, or from an earlier runtime__init(). */
static inline void runtime__init(struct runtime *r, const struct made_func *func, size_t n)
{
	site_list__deinit(&r->sites);
	go_made__close(&r->made);
	memset(r, 0, sizeof(*r));
	assert_true(n <= sizeof(r->func) / sizeof(r->func[0]));
	memcpy(r->func, func, n * sizeof(*func));
	r->n = n;
	r->release = "go1.25.3";
}

static inline struct made_func *runtime__func(struct runtime *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!strcmp(r->func[i].name, name))
			return &r->func[i];
	}
	fail_msg("no function %s", name);
	return NULL;
}

/* Removes a function, or renames it. */
static inline void runtime__rename(struct runtime *r, const char *name, const char *to)
{
	runtime__func(r, name)->name = to ? to : "runtime.other";
}

static inline void runtime__find(struct runtime *r)
{
	struct made_program program = { MADE_BYTES, r->func, r->n };

	site_list__deinit(&r->sites);
	go_made__open(&r->made, r->release, &program);
	assert_int_equal(layout__for_version(&r->made.version, &r->layout, NULL), 0);
	r->layout.config.g_status = STATUS_AT;
	r->layout.p_status = P_STATUS_AT;
	r->layout.config.m_p = M_P_AT;
	r->layout.config.p_gc_mode = P_MODE_AT;
	r->err.text[0] = 0;
	r->code = site_list__find(&r->sites, r->made.elf, r->made.pt, &r->layout, &r->err);
}

static inline const struct site *runtime__site(const struct runtime *r, enum gt_probe probe,
					       const unsigned char *label)
{
	for (size_t i = 0; i < r->sites.n; i++) {
		if (r->sites.site[i].probe == probe && r->sites.site[i].addr == MADE_ADDR_OF(label))
			return &r->sites.site[i];
	}
	return NULL;
}

static inline size_t runtime__count(const struct runtime *r, enum gt_probe probe)
{
	size_t n = 0;

	for (size_t i = 0; i < r->sites.n; i++)
		n += r->sites.site[i].probe == probe;
	return n;
}

static inline const struct site_missing *runtime__missing(const struct runtime *r,
							  enum gt_probe probe)
{
	for (size_t i = 0; i < r->sites.nmissing; i++) {
		if (r->sites.missing[i].probe == probe)
			return &r->sites.missing[i];
	}
	return NULL;
}

static inline void expect_site(const struct runtime *r, enum gt_probe probe,
			       const unsigned char *label, uint64_t cookie)
{
	const struct site *s = runtime__site(r, probe, label);

	if (!s)
		fail_msg("no probe %s at +%td", site__probe_name(probe), label - made_text);
	assert_int_equal(s->cookie, cookie);
	assert_true(r->sites.has[probe]);
}

#endif
