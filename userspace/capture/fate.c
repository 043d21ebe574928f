// SPDX-License-Identifier: GPL-2.0
/* Signals of a process, and its end: see fate.h. */
#include "capture/fate.h"
#include "capture/probes_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "gotrace/fate.h"

#include "fate.skel.h"

struct fate {
	struct fate_bpf *skel;
	struct ring_buffer *ring;
	struct triggers *triggers;
};

/* Callback of libbpf. */
static int handle(void *ctx, void *data, size_t size)
{
	const struct gt_fate *fate = data;
	struct fate *f = ctx;

	if (size < sizeof(*fate))
		return 0;
	if (fate->signal)
		triggers__signal(f->triggers, fate->time, fate->tid, fate->signal);
	else
		triggers__exit(f->triggers, fate->time, fate->status);
	return 0;
}

/* The signals that conditions name. *ret_exit: one is exit. */
static uint64_t wanted(const struct trigger_opts *opts, bool *ret_exit)
{
	uint64_t signals = 0;

	*ret_exit = false;
	for (size_t i = 0; i < opts->n; i++) {
		const struct condition *c = &opts->condition[i];

		if (c->kind == TRIGGER_SIGNAL)
			signals |= c->limit ? 1ull << (c->limit - 1) : UINT64_MAX;
		*ret_exit |= c->kind == TRIGGER_EXIT;
	}
	return signals;
}

static int attach(struct fate *f, uint64_t signals, int pid, struct error *error)
{
	struct gt_pid_ns pid_ns;
	int err = pid_ns__find(&pid_ns, error);

	if (err)
		return err;
	probes__log_libbpf();
	f->skel = fate_bpf__open();
	if (!f->skel)
		return -errno;
	f->skel->rodata->pid_ns = pid_ns;
	f->skel->bss->watched = (uint32_t)pid;
	f->skel->bss->signals = signals;
	if (fate_bpf__load(f->skel) || fate_bpf__attach(f->skel))
		return -errno;
	f->ring = ring_buffer__new(bpf_map__fd(f->skel->maps.fates), handle, f, NULL);
	return f->ring ? 0 : -errno;
}

int fate__open(struct fate **ret, const struct trigger_opts *opts, int pid, struct error *error)
{
	bool with_exit;
	uint64_t signals = wanted(opts, &with_exit);
	struct fate *f;
	int err;

	*ret = NULL;
	if (!signals && !with_exit)
		return 0;
	f = calloc(1, sizeof(*f));
	err = f ? attach(f, signals, pid, error) : -ENOMEM;
	if (!err) {
		*ret = f;
		return 0;
	}
	fate__close(f);
	if (error->text[0])
		return err;
	return error__set(error, err,
			  "cannot watch the process for --trigger signal and exit: %s%s",
			  strerror(-err),
			  err == -EPERM ? "; run as root, or with CAP_BPF and CAP_PERFMON" : "");
}

void fate__close(struct fate *f)
{
	if (!f)
		return;
	ring_buffer__free(f->ring);
	fate_bpf__destroy(f->skel);
	free(f);
}

void fate__poll(void *ctx, struct triggers *t)
{
	struct fate *f = ctx;

	f->triggers = t;
	ring_buffer__consume(f->ring);
}
