// SPDX-License-Identifier: GPL-2.0
/* What joins a trace with perf's file when there is no memory: see no_memory.h. */
#include "unit/test.h"
#include "align/alignment.h"
#include "align/fit.h"
#include "align/write.h"
#include "perfdata/made.h"
#include "unit/rewrite_fixture.h"
#include "writer/private_write.h"

#include "unit/no_memory.h"

enum { STRANGER = 901, SWITCHES = 100 };

static const char *trace; /* what the jobs read */
static struct made *perf;

/* A thread that runs in two generations; no kernel events. */
static int make_trace(void **state)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s", scratch("trace"));
	trace = path;
	start_at(path, 25, 1);
	for (uint64_t time = 1000; time <= 2000; time += 1000) {
		ok(writer__open(x.w, time, 5000000000000 + time));
		ok(private__ticks(x.w, 1, time, 5000000000000 + time));
		ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
		ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
		put(10, time + 900, EV_HEAP_ALLOC, 1, 0, 0);
		ok(writer__close(x.w));
	}
	ok(trace_file__commit(x.file));
	stop(NULL);
	return 0;
}

static int make_perf(void **state)
{
	struct made_perf *m = made_perf();

	m->packed = 1000;
	made_fork(m, 900, 1, 10);
	made_switch(m, 1100, 0, 0, 0, 10);
	made_switch(m, 1500, 0, 10, 0, STRANGER);
	made_lost_at(m, 4, 1550, 1);
	made_switch(m, 1600, 0, STRANGER, 0, 10);
	made_switch(m, 2500, 0, 10, 1, STRANGER);
	perf = made_pipe(m);
	free(m);
	return make_trace(state);
}

static void free_perf(void)
{
	free(perf);
}

GROUP(make_perf, free_perf)

/* Always with memory: libtraceevent, which it uses, does not tell the lack of it from broken data. */
static struct perf_data *open_perf(void)
{
	long kept = left;
	struct perf_data *d;
	struct input *in;

	left = NONE_FAILS;
	ok(input__open_memory(&in, perf->data, perf->len, &why));
	ok(perf_data__open(&d, in, &why));
	left = kept;
	return d;
}

static int open_side(struct side *ret)
{
	struct reader *r;
	struct input *in;
	int code = input__open(&in, trace, &why);

	code = code ?: reader__open(&r, in, NULL, &why);
	if (code)
		return code;
	code = side__read(ret, r, &why);
	reader__destroy(r);
	return code;
}

static int write_joined(struct alignment *a)
{
	struct align_job job = { .alignment = a };
	const char *to = scratch("joined");
	struct trace_file *file = NULL;
	struct align_added added;
	struct input *in;
	int code = input__open(&in, trace, &why);

	if (code)
		return code;
	job.trace = in;
	code = trace_file__open(&file, to, FILE_ANY);
	code = code ?: align__write(&job, file, to, &added, &why);
	code = code ?: trace_file__commit(file);
	trace_file__destroy(file);
	input__destroy(in);
	if (!code)
		add_file(to);
	return code;
}

static int join(void)
{
	struct alignment a;
	struct side side;
	int code = open_side(&side);

	code = code ?: alignment__make(&a, &side, open_perf(), &why);
	if (code)
		return code;
	code = write_joined(&a);
	alignment__deinit(&a);
	return code;
}

/* The same switches, on a clock that is a second ahead. */
static int fit_clocks(void)
{
	static struct fit_switch ours[SWITCHES], theirs[SWITCHES];
	struct fit fit;
	int code;

	for (unsigned int i = 0; i < SWITCHES; i++) {
		ours[i] = (struct fit_switch){ 1000000 * i + i * i % 97 * 1000, i % 2 ? 10 : 0,
					       i % 2 ? 0 : 10, (uint16_t)(i % 3) };
		theirs[i] = ours[i];
		theirs[i].time += 1000000000;
	}
	code = fit__clock(&fit, ours, SWITCHES, theirs, SWITCHES, &why);
	if (!code)
		add_number((uint64_t)fit__offset(&fit));
	return code;
}

JOB(join)
JOB(fit_clocks)
