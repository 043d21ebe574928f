// SPDX-License-Identifier: GPL-2.0
/* Tests of why a goroutine waits, by its stack. Under test: reader/parking.c and reader/semantics.c. */
#include "unit/test.h"
#include "reader/parking.h"
#include "reader/semantics.h"

static struct dictionary d;
static uint64_t ids;

static int begin(void **state)
{
	dictionary__init(&d);
	ids = 0;
	return 0;
}

static int end(void **state)
{
	dictionary__deinit(&d);
	return 0;
}

FIXTURE(begin, end)

/* Functions, the innermost first; NULL: the end. */
static uint64_t stack_of(const char *const *functions)
{
	struct trace_frame frames[8] = {};
	size_t n = 0;

	for (; functions[n]; n++) {
		assert_int_equal(
			dictionary__add_string(&d, ++ids, functions[n], strlen(functions[n])), 0);
		frames[n] = (struct trace_frame){ .pc = ids, .func = ids, .file = ids };
	}
	assert_int_equal(dictionary__add_stack(&d, ++ids, frames, n), 0);
	return ids;
}

#define STACK(...) stack_of((const char *const[]){ __VA_ARGS__, NULL })

static void expect(uint64_t stack, const char *want)
{
	struct trace_string have = parking__reason(&d, stack);

	if (have.len != strlen(want) || (have.len && !trace_string__equals(have, want)))
		fail_msg("'%.*s' instead of '%s'", (int)have.len, have.data, want);
}

TEST(functions_that_park)
{
	expect(STACK("runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1", "main.main"),
	       "chan receive (inferred)");
	expect(STACK("runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1",
		     "sync.runtime_Semacquire"),
	       "sync (inferred)");
	expect(STACK("runtime.gopark", "runtime.goparkunlock", "runtime.(*scavengerState).park"),
	       "system goroutine wait (inferred)");
	expect(STACK("runtime.gopark", "time.Sleep"), "sleep (inferred)");
}

TEST(unknown)
{
	expect(0, "");
	expect(77, "");
	expect(STACK("runtime.gopark"), "");
	expect(STACK("runtime.chanrecv", "main.main"), "");
	expect(STACK("runtime.gopark", "main.park"), "");
	expect(STACK("runtime.gopark", "runtime.chanrecv1"), "");
	expect(STACK("runtime.gopark", "a", "b", "runtime.selectgo"), "select (inferred)");
	expect(STACK("runtime.gopark", "a", "b", "c", "runtime.selectgo"), "");
}

static bool is(const char *reason, const char *name)
{
	return parking__is((struct trace_string){ reason, (uint32_t)strlen(reason) }, name);
}

TEST(inferred_or_not)
{
	assert_true(is("network", "network"));
	assert_true(is("network (inferred)", "network"));
	assert_false(is("network (inferred", "network"));
	assert_false(is("network (inferred) ", "network"));
	assert_false(is("networks", "network"));
	assert_false(is("net", "network"));
	assert_false(is("", "network"));
}

/* Only a status has the reason: other events have their own. */
TEST(of_events)
{
	struct trace_event ev = { .type = EV_GO_STATUS_STACK, .dictionary = &d, .g = 7 };
	struct semantics m;

	ev.arg[0] = 7;
	ev.arg[2] = GO_WAITING;
	ev.arg[3] = STACK("runtime.gopark", "runtime.selectgo", "main.main");
	semantics__of(&ev, &m);
	assert_int_equal(m.name.len, 0);
	semantics__add_reason(&ev, &m);
	assert_true(trace_string__equals(m.name, "select (inferred)"));
	ev.arg[2] = GO_RUNNABLE;
	semantics__of(&ev, &m);
	semantics__add_reason(&ev, &m);
	assert_int_equal(m.name.len, 0);
}
