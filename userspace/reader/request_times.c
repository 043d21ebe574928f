// SPDX-License-Identifier: GPL-2.0
/* The times of requests in the private data of a generation: see request_times.h. */
#include "reader/request_times.h"

#include <errno.h>
#include <stdlib.h>

#include "format/private_read.h"
#include "lib/array.h"

void request_times__deinit(struct request_times *t)
{
	free(t->arrival);
	free(t->answer);
}

static int add(struct request_times *t, const struct private_request *request)
{
	if (request->what == REQUEST_ANSWERED) {
		if (array__grow(&t->answer, t->nanswers, &t->answers_cap, sizeof(*request)))
			return -ENOMEM;
		t->answer[t->nanswers++] = *request;
		return 0;
	}
	if (array__grow(&t->arrival, t->narrivals, &t->arrivals_cap, sizeof(*request)))
		return -ENOMEM;
	t->arrival[t->narrivals++] = *request;
	return 0;
}

static int compare_arrivals(const void *left, const void *right)
{
	const struct private_request *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

static int compare_answers(const void *left, const void *right)
{
	const struct private_request *a = left, *b = right;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	return (a->time > b->time) - (a->time < b->time);
}

static void sort(struct request_times *t)
{
	size_t n = 0;

	array__sort(t->arrival, t->narrivals, sizeof(*t->arrival), compare_arrivals);
	array__sort(t->answer, t->nanswers, sizeof(*t->answer), compare_answers);
	for (size_t i = 0; i < t->nanswers; i++)
		if (i + 1 == t->nanswers || t->answer[i].task != t->answer[i + 1].task)
			t->answer[n++] = t->answer[i];
	t->nanswers = n;
}

int request_times__read(struct request_times *t, const struct dictionary *dictionary)
{
	struct private_request request;
	struct private_record record;
	struct private_reader r;
	int err;

	t->narrivals = t->nanswers = 0;
	t->generations++;
	private_reader__init(&r, dictionary);
	while ((err = private_reader__next(&r, &record)) > 0) {
		request = (struct private_request){};
		while (err > 0 && record.kind == PRIVATE_REQUESTS &&
		       private_read__request(&record.data, &request))
			if (add(t, &request))
				err = -ENOMEM;
		if (err < 0)
			break;
	}
	private_reader__deinit(&r);
	sort(t);
	return err;
}

uint64_t request_times__answer(const struct request_times *t, uint64_t task)
{
	size_t low = 0, high = t->nanswers, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->answer[middle].task < task)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->nanswers && t->answer[low].task == task ? t->answer[low].time : 0;
}
