// SPDX-License-Identifier: GPL-2.0
/*
 * The semantics of each event, compared with Go's Event API for the same arguments, one line per
 * event. Argument i of all events is 10 + i, except ids that must exist: strings are 1 to 4. The
 * context is thread 1, P 2, goroutine 3.
 */
#include "unit/test.h"
#include "reader/semantics.h"

static const char *const strings[] = { "", "one", "two", "three", "four" };

static struct dictionary dictionary;

static int set_up(void **state)
{
	dictionary__init(&dictionary);
	for (uint64_t id = 1; id < 5; id++)
		assert_int_equal(
			dictionary__add_string(&dictionary, id, strings[id], strlen(strings[id])),
			0);
	return 0;
}

static int tear_down(void **state)
{
	dictionary__deinit(&dictionary);
	return 0;
}

GROUP(set_up, tear_down)

static struct trace_event event(unsigned int type)
{
	const struct ev_spec *spec = spec__event(type);
	struct trace_event ev = { .type = type, .m = 1, .p = 2, .g = 3, .dictionary = &dictionary };

	for (unsigned int i = 0; i < EV_ARGS_MAX - 1; i++)
		ev.arg[i] = spec->arg[i + 1].type == ARG_STRING ? i + 1 : 10 + i;
	return ev;
}

static const char *describe(const struct trace_event *ev)
{
	static char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct semantics m;

	semantics__of(ev, &m);
	fputs(semantics__kind(m.kind), out);
	if (m.resource != RESOURCE_NONE)
		fprintf(out, " %c%ld", m.resource == RESOURCE_GOROUTINE ? 'g' : 'p', (long)m.id);
	if (m.kind == SEMANTICS_STATE_TRANSITION)
		fprintf(out, " %s->%s", semantics__state(m.resource, m.from),
			semantics__state(m.resource, m.to));
	if (m.name.len || m.before[0])
		fprintf(out, " \"%s%.*s%s\"", m.before, (int)m.name.len, m.name.data, m.after);
	if (m.message.len)
		fprintf(out, " \"%.*s\"", (int)m.message.len, m.message.data);
	if (m.task || m.parent)
		fprintf(out, " task %ld", (long)m.task);
	if (m.parent)
		fprintf(out, " of %ld", (long)m.parent);
	for (unsigned int i = 0; i < m.values; i++)
		fprintf(out, " %s=%lu", m.value[i].name, m.value[i].value);
	if (m.stack || m.transition_stack)
		fprintf(out, " at %lu/%lu", m.stack, m.transition_stack);
	fclose(out);
	return text;
}

#define SAYS(type, text)                                                                           \
	do {                                                                                       \
		struct trace_event ev_ = event(type);                                              \
		assert_string_equal(describe(&ev_), text);                                         \
	} while (0)

TEST(goroutines)
{
	SAYS(EV_GO_CREATE, "StateTransition g10 NotExist->Runnable at 12/11");
	SAYS(EV_GO_CREATE_BLOCKED, "StateTransition g10 NotExist->Waiting at 12/11");
	SAYS(EV_GO_CREATE_SYSCALL, "StateTransition g10 NotExist->Syscall");
	SAYS(EV_GO_START, "StateTransition g10 Runnable->Running");
	SAYS(EV_GO_DESTROY, "StateTransition g3 Running->NotExist");
	SAYS(EV_GO_DESTROY_SYSCALL, "StateTransition g3 Syscall->NotExist");
	SAYS(EV_GO_STOP, "StateTransition g3 Running->Runnable \"one\" at 11/11");
	SAYS(EV_GO_BLOCK, "StateTransition g3 Running->Waiting \"one\" at 11/11");
	SAYS(EV_GO_UNBLOCK, "StateTransition g10 Waiting->Runnable at 12/0");
	SAYS(EV_GO_SWITCH, "StateTransition g10 Waiting->Runnable");
	SAYS(EV_GO_SWITCH_DESTROY, "StateTransition g10 Waiting->Runnable");
	SAYS(EV_GO_SYSCALL_BEGIN, "StateTransition g3 Running->Syscall at 11/11");
	SAYS(EV_GO_SYSCALL_END, "StateTransition g3 Syscall->Running");
	SAYS(EV_GO_SYSCALL_END_BLOCKED, "StateTransition g3 Syscall->Runnable");
}

TEST(statuses)
{
	static const char *const to[] = { "Undetermined", "Runnable", "Running", "Syscall",
					  "Waiting" };
	static const char *const p_to[] = { "Undetermined", "Running", "Idle", "Running", "Idle" };
	struct trace_event ev = event(EV_GO_STATUS), p = event(EV_PROC_STATUS);
	char text[128];

	for (unsigned int status = 0; status < 5; status++) {
		ev.arg[2] = p.arg[1] = status;
		snprintf(text, sizeof(text), "StateTransition g10 Undetermined->%s", to[status]);
		assert_string_equal(describe(&ev), text);
		snprintf(text, sizeof(text), "StateTransition p10 Undetermined->%s", p_to[status]);
		assert_string_equal(describe(&p), text);
	}
	ev.type = EV_GO_STATUS_STACK;
	ev.old = GO_STATE_SYSCALL;
	ev.arg[2] = GO_SYSCALL;
	assert_string_equal(describe(&ev), "StateTransition g10 Syscall->Syscall at 13/13");
	p.old = PROC_STATE_RUNNING;
	assert_string_equal(describe(&p), "StateTransition p10 Running->Idle");
}

TEST(ps)
{
	struct trace_event ev = event(EV_PROC_STEAL);

	SAYS(EV_PROC_START, "StateTransition p10 Idle->Running");
	SAYS(EV_PROC_STOP, "StateTransition p2 Running->Idle");
	ev.old = PROC_SYSCALL;
	assert_string_equal(describe(&ev), "StateTransition p10 Running->Idle");
	ev.old = PROC_ABANDONED;
	assert_string_equal(describe(&ev), "StateTransition p10 Idle->Idle");
}

TEST(ranges)
{
	struct trace_event ev = event(EV_STW_END);

	SAYS(EV_STW_BEGIN, "RangeBegin g3 \"stop-the-world (one)\" at 11/0");
	ev.arg[0] = 4;
	assert_string_equal(describe(&ev), "RangeEnd g3 \"stop-the-world (four)\"");
	ev.arg[0] = 99; /* of an earlier generation */
	assert_string_equal(describe(&ev), "RangeEnd g3 \"stop-the-world ()\"");
	SAYS(EV_GC_ACTIVE, "RangeActive \"GC concurrent mark phase\"");
	SAYS(EV_GC_BEGIN, "RangeBegin \"GC concurrent mark phase\" at 11/0");
	SAYS(EV_GC_END, "RangeEnd \"GC concurrent mark phase\"");
	SAYS(EV_GC_SWEEP_ACTIVE, "RangeActive p10 \"GC incremental sweep\"");
	SAYS(EV_GC_SWEEP_BEGIN, "RangeBegin p2 \"GC incremental sweep\" at 10/0");
	SAYS(EV_GC_SWEEP_END,
	     "RangeEnd p2 \"GC incremental sweep\" bytes swept=10 bytes reclaimed=11");
	SAYS(EV_GC_MARK_ASSIST_ACTIVE, "RangeActive g10 \"GC mark assist\"");
	SAYS(EV_GC_MARK_ASSIST_BEGIN, "RangeBegin g3 \"GC mark assist\" at 10/0");
	SAYS(EV_GC_MARK_ASSIST_END, "RangeEnd g3 \"GC mark assist\"");
}

TEST(metrics)
{
	SAYS(EV_PROCS_CHANGE, "Metric \"/sched/gomaxprocs:threads\" value=10 at 11/0");
	SAYS(EV_HEAP_ALLOC, "Metric \"/memory/classes/heap/objects:bytes\" value=10");
	SAYS(EV_HEAP_GOAL, "Metric \"/gc/heap/goal:bytes\" value=10");
	SAYS(EV_CPU_SAMPLE, "StackSample at 10/0");
	SAYS(EV_SYNC, "Sync");
	SAYS(EV_SPAN, "Experimental \"Span\" id=10 npages_value=11 kindclass=12");
	SAYS(EV_GOROUTINE_STACK_FREE, "Experimental \"GoroutineStackFree\" id=10");
	assert_string_equal(semantics__experiment(EXPERIMENT_ALLOC_FREE), "AllocFree");
}

TEST(annotations)
{
	struct trace_event ev = event(EV_USER_TASK_END);

	SAYS(EV_GO_LABEL, "Label g3 \"one\"");
	SAYS(EV_USER_TASK_BEGIN, "TaskBegin \"three\" task 10 of 11 at 13/0");
	ev.parent = 7;
	ev.name = (struct trace_string){ "before", 6 };
	assert_string_equal(describe(&ev), "TaskEnd \"before\" task 10 of 7 at 11/0");
	SAYS(EV_USER_REGION_BEGIN, "RegionBegin \"two\" task 10 at 12/0");
	SAYS(EV_USER_REGION_END, "RegionEnd \"two\" task 10 at 12/0");
	SAYS(EV_USER_LOG, "Log \"two\" \"three\" task 10 at 13/0");
}

static unsigned int stack_of(const struct ev_spec *spec)
{
	unsigned int last = 0;

	for (unsigned int i = 0; i < spec->nargs; i++)
		if (spec->arg[i].type == ARG_STACK)
			last = spec->timed ? i + 9 : 10;
	return last;
}

/* All events that a reader can deliver have semantics, and the stack that spec.c lists last. */
TEST(all_events)
{
	for (unsigned int type = 0; type < EV_END; type++) {
		const struct ev_spec *spec = spec__event(type);
		struct trace_event ev;
		struct semantics m;

		if (!spec)
			continue;
		ev = event(type);
		ev.arg[1] = type == EV_PROC_STATUS ? PROC_IDLE : ev.arg[1];
		ev.arg[2] =
			type == EV_GO_STATUS || type == EV_GO_STATUS_STACK ? GO_WAITING : ev.arg[2];
		semantics__of(&ev, &m);
		if (type != EV_CPU_SAMPLE && type != EV_SYNC &&
		    (!spec->timed || type == EV_CLOCK_SNAPSHOT)) {
			assert_int_equal(m.kind, SEMANTICS_BAD);
			continue;
		}
		assert_int_not_equal(m.kind, SEMANTICS_BAD);
		assert_int_equal(m.stack, stack_of(spec));
		assert_int_equal(m.kind == SEMANTICS_EXPERIMENTAL, spec->experiment != 0);
	}
}
