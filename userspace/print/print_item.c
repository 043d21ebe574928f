// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace events --kernel`: one line per kernel event, between those of the events.
 *
 *     0.000125000 m123457  p-   g12      off_cpu             cpu 1, sleeping; then m88 of 12 (sshd)
 *     0.000131000 m123457  p-   g12      waking              by m123458 of 123456, g7
 *     0.000163000 m123457  p-   g12      on_cpu              cpu 0, after 32.0us; before idle
 *     0.000164000 m123457  p-   g12      sys_exit            read = 8, took 40.1us
 *
 * m is the thread concerned, g the goroutine that it executes. Input: reader/timeline.c.
 */
#include "format/kernel.h"
#include "reader/timeline.h"
#include "print.h"
#include "table.h"

struct print_item print_item__of(const struct timeline *t, const struct kernel_item *item)
{
	bool by = (item->kind == KERNEL_WAKING && !item->interrupt) || item->kind == KERNEL_CREATED;

	return (struct print_item){
		.item = item,
		.g = kernel_item__is_of_cpu(item) ? TRACE_NO_G : timeline__goroutine(t, item->tid),
		.by_g = by ? timeline__goroutine(t, item->other) : TRACE_NO_G,
		.took = timeline__duration(t),
	};
}

static void put_thread(struct out *o, uint32_t tid, uint32_t pid, struct trace_string name)
{
	if (!tid || tid == KERNEL_NO_THREAD) {
		out__text(o, tid ? "unknown" : "idle");
		return;
	}
	out__char(o, 'm');
	out__u64(o, tid);
	if (pid) {
		out__text(o, " of ");
		out__u64(o, pid);
	}
	if (name.len) {
		out__text(o, " (");
		out__unicode(o, name.data, name.len);
		out__char(o, ')');
	}
}

static void put_call(struct out *o, const struct kernel_item *item)
{
	if (item->name.len) {
		out__unicode(o, item->name.data, item->name.len);
	} else {
		out__char(o, '#');
		out__u64(o, item->number);
	}
}

static void put_cpu(struct out *o, const struct kernel_item *item)
{
	out__text(o, "cpu ");
	out__u64(o, item->cpu);
}

static void put_by(struct out *o, const struct print_item *i, uint32_t pid)
{
	const struct trace_string none = {};

	put_thread(o, i->item->other, pid, none);
	if (i->by_g == UINT64_MAX)
		return;
	out__text(o, ", g");
	out__u64(o, i->by_g);
}

static void put_took(struct out *o, const struct print_item *i, const char *before)
{
	if (i->took > INT64_MAX)
		return;
	out__text(o, before);
	table__time(o, (int64_t)i->took, i->took ? 3 : 1);
}

static void put_details(struct out *o, const struct print_item *i)
{
	const struct kernel_item *item = i->item;
	const struct trace_string none = {};

	switch (item->kind) {
	case KERNEL_ON:
		put_cpu(o, item);
		put_took(o, i, ", after ");
		out__text(o, "; before ");
		put_thread(o, item->other, 0, none);
		break;
	case KERNEL_OFF:
		put_cpu(o, item);
		out__text(o, ", ");
		out__text(o, kernel__why(item->why));
		if (kernel__sleep(item->sleep)) {
			out__text(o, ", ");
			out__text(o, kernel__sleep(item->sleep));
		}
		out__text(o, "; then ");
		put_thread(o, item->other, item->other_pid, item->name);
		break;
	case KERNEL_WAKING:
		out__text(o, item->interrupt ? "by an interrupt of " : "by ");
		put_by(o, i, item->other_pid);
		break;
	case KERNEL_SYS_ENTER:
	case KERNEL_SYS_EXIT:
		put_call(o, item);
		if (item->kind == KERNEL_SYS_ENTER)
			break;
		out__text(o, " = ");
		out__i64(o, (int64_t)item->value);
		put_took(o, i, ", took ");
		break;
	case KERNEL_CREATED:
		out__text(o, "by ");
		put_by(o, i, 0);
		if (item->name.len)
			out__text(o, ", named ");
		out__unicode(o, item->name.data, item->name.len);
		break;
	case KERNEL_NAMED:
		out__unicode(o, item->name.data, item->name.len);
		break;
	case KERNEL_FAULT_BEGIN:
		out__text(o, "at 0x");
		out__hex(o, item->value);
		break;
	case KERNEL_FAULT_END:
		put_took(o, i, "took ");
		break;
	case KERNEL_CPU:
	case KERNEL_OCCUPANT:
		put_cpu(o, item);
		out__text(o, ": ");
		put_thread(o, item->tid, item->other_pid, item->name);
		if (item->before)
			out__text(o, ", since before the wait");
		break;
	case KERNEL_MOVED:
		put_cpu(o, item);
		out__text(o, ", from cpu ");
		out__u64(o, item->other);
		break;
	}
}

/* Not the idle task, nor one that is unknown */
static bool has_thread(const struct kernel_item *item)
{
	return item->tid && item->tid != KERNEL_NO_THREAD;
}

void print__human_item(struct printer *p, const struct print_item *i, int64_t time)
{
	const struct kernel_item *item = i->item;
	struct out *o = &p->out;

	print__columns(p, time, has_thread(item) ? item->tid : UINT64_MAX, UINT64_MAX, i->g,
		       kernel__item(item->kind));
	put_details(o, i);
	while (o->len && o->data[o->len - 1] == ' ')
		o->len--;
	out__char(o, '\n');
}

/* ---- JSON ---- */

static void put_other(struct json *j, const char *name, const struct print_item *i, bool named)
{
	const struct kernel_item *item = i->item;

	json__open(j, name, '{');
	json__u64(j, "m", item->other);
	if (i->by_g != UINT64_MAX)
		json__u64(j, "g", i->by_g);
	if (item->other_pid)
		json__u64(j, "pid", item->other_pid);
	if (named && item->name.len)
		json__bytes(j, "name", item->name.data, item->name.len);
	json__close(j, '}');
}

static void put_ns(struct json *j, const char *name, const struct print_item *i)
{
	if (i->took != UINT64_MAX)
		json__u64(j, name, i->took);
}

static void put_members(struct json *j, const struct print_item *i)
{
	const struct kernel_item *item = i->item;

	switch (item->kind) {
	case KERNEL_ON:
		put_other(j, "before", i, false);
		put_ns(j, "delay_ns", i);
		break;
	case KERNEL_OFF:
		json__string(j, "why", kernel__why(item->why));
		if (kernel__sleep(item->sleep))
			json__string(j, "sleep", kernel__sleep(item->sleep));
		put_other(j, "then", i, true);
		break;
	case KERNEL_WAKING:
		put_other(j, "by", i, false);
		json__bool(j, "interrupt", item->interrupt);
		break;
	case KERNEL_SYS_ENTER:
	case KERNEL_SYS_EXIT:
		json__bytes(j, "syscall", item->name.data, item->name.len);
		json__u64(j, "number", item->number);
		if (item->kind == KERNEL_SYS_ENTER)
			break;
		json__i64(j, "result", (int64_t)item->value);
		put_ns(j, "duration_ns", i);
		break;
	case KERNEL_CREATED:
		put_other(j, "by", i, false);
		json__bytes(j, "name", item->name.data, item->name.len);
		break;
	case KERNEL_NAMED:
		json__bytes(j, "name", item->name.data, item->name.len);
		break;
	case KERNEL_FAULT_BEGIN:
		json__u64(j, "address", item->value);
		break;
	case KERNEL_FAULT_END:
		put_ns(j, "duration_ns", i);
		break;
	case KERNEL_CPU:
	case KERNEL_OCCUPANT:
		json__u64(j, "pid", item->other_pid);
		json__bytes(j, "name", item->name.data, item->name.len);
		if (item->kind == KERNEL_OCCUPANT)
			json__bool(j, "already", item->before);
		break;
	case KERNEL_MOVED:
		json__u64(j, "from_cpu", item->other);
		break;
	}
}

void print__json_item(struct printer *p, const struct print_item *i, int64_t time)
{
	const struct kernel_item *item = i->item;
	struct json *j = &p->json;

	json__open(j, NULL, '{');
	json__i64(j, "time", time);
	if (item->tid == KERNEL_NO_THREAD)
		json__null(j, "m");
	else
		json__u64(j, "m", item->tid);
	if (i->g == UINT64_MAX)
		json__null(j, "g");
	else
		json__u64(j, "g", i->g);
	json__string(j, "event", kernel__item(item->kind));
	json__string(j, "kind", "Kernel");
	json__u64(j, "cpu", item->cpu);
	put_members(j, i);
	json__close(j, '}');
}
