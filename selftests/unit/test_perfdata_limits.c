// SPDX-License-Identifier: GPL-2.0
/* perf.data: the limits of what is taken, from both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../perfdata/made.h"
#include "align/perfdata.h"

/* The reason why it is refused; NULL: it is not. Frees both. */
static const char *refusal(struct made_perf *m, struct made *b)
{
	static struct error err;
	struct perf_data *d;
	struct input *in;
	int code;

	err = (struct error){};
	assert_int_equal(input__open_memory(&in, b->data, b->len, &err), 0);
	code = perf_data__open(&d, in, &err);
	free(b);
	free(m);
	if (code)
		return err.text;
	perf_data__close(d);
	return NULL;
}

static void assert_refused(struct made_perf *m, struct made *b, const char *part)
{
	const char *why = refusal(m, b);

	if (!why || !strstr(why, part))
		fail_msg("not \"%s\" but \"%s\"", part, why ? why : "nothing");
}

/* A number has 1, 2, 4 or 8 bytes. */
static void sizes_of_numbers(void **state)
{
	static const char format_of[] = "name: sched_switch\nID: 7\nformat:\n" MADE_COMMON
		MADE_FIELD("pid_t prev_pid", 24, 4, 1) MADE_FIELD(
			"pid_t next_pid", 56, 4,
			1) "\tfield:long prev_state;\toffset:32;\tsize:%u;\tsigned:1;\n\nprint fmt: \"\"\n";

	for (unsigned int size = 1; size <= 16; size++) {
		struct made_perf *m = made_perf();
		char format[1024];

		snprintf(format, sizeof(format), format_of, size);
		m->switch_format = format;
		made_recording(m);
		if (size == 1 || size == 2 || size == 4 || size == 8)
			assert_null(refusal(m, made_file(m)));
		else
			assert_refused(m, made_file(m), "no good field prev_state");
	}
}

/* Long records of zeros that are left out: 64 MB of them are taken, whatever few bytes they came from. */
static void growth(void **state)
{
	static const uint8_t zeros[65520];
	static struct made frame;

	for (unsigned int frames = 500; frames <= 520; frames += 20) {
		struct made_perf *m = made_perf();
		struct made *b;

		m->packed = 60000;
		made_recording(m);
		b = made_pipe(m);
		m->records.len = frame.len = 0;
		made_record(&m->records, PERF_RECORD_MMAP, 0, zeros, sizeof(zeros));
		made_record(&m->records, PERF_RECORD_MMAP, 0, zeros, sizeof(zeros));
		made_pack(m, &frame);
		for (unsigned int i = 0; i < frames; i++)
			made_put(b, frame.data, frame.len);
		if (frames * 2 * (sizeof(zeros) + 8) < 64u << 20)
			assert_null(refusal(m, b));
		else
			assert_refused(m, b, "grow beyond measure");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_numbers),
		cmocka_unit_test(growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
