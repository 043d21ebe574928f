// SPDX-License-Identifier: GPL-2.0
/*
 * The functions that BPF programs call: include/gotrace/module.h documents them.
 *
 * Upstream: bpf/stack.bpf.h and bpf/emit.bpf.h. Downstream: unwind.c, stacks.c and emit.c. The
 * verifier guarantees that pointers are valid for the given size, and not NULL (KF_TRUSTED_ARGS);
 * numbers and user addresses may have any value.
 *
 * All run in the context of a BPF program: they neither sleep nor fault, take no lock, and may be
 * called with interrupts disabled and a run queue's lock held. In an NMI user memory cannot be
 * read: a stack has only its first PCs there, and records are rejected. Sleepable programs call
 * without rcu_read_lock(), so each function takes it.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "kfuncs.h"
#include "session.h"
#include "unwind.h"

#if GT_HAVE_KFUNCS

/* Any context but an NMI. Separate from its caller because it needs the stack, and is rare. */
static noinline int emit_with_tail(u32 session, const void *rec, u32 rec_size, u64 tail, u32 len)
{
	u8 copy[GT_TAIL_MAX] __aligned(8) __uninitialized;
	struct session *s;
	int err = -ENOENT;

	if (len > sizeof(copy))
		return -EINVAL;
	if (copy_from_user_nofault(copy, (const void __user *)(unsigned long)tail, len))
		return -EFAULT;
	rcu_read_lock();
	s = session__find(session);
	if (s)
		err = session__emit(s, rec, rec_size, copy, len);
	rcu_read_unlock();
	return err;
}

__bpf_kfunc_start_defs();

__bpf_kfunc u64 gotrace_stack_hash(struct gt_unwind *w, u32 depth)
{
	return unwind__user(w, min_t(u32, depth, GT_STACK_MAX), NULL);
}

__bpf_kfunc u64 gotrace_stack_pcs(struct gt_unwind *w, u32 depth, u64 *pcs, u32 pcs__sz)
{
	u32 room = min_t(u32, pcs__sz / sizeof(*pcs), GT_STACK_MAX);

	w->n = 0;
	w->cut = 0;
	return room < 2 ? 0 : unwind__user(w, min(depth, room), pcs);
}

__bpf_kfunc u32 gotrace_stack_id(u32 session, struct gt_unwind *w, u32 depth)
{
	u64 pcs[GT_STACK_MAX] __uninitialized, hash;
	struct stack_table *stacks;
	struct session *s;
	u32 id = 0;

	hash = unwind__user(w, min_t(u32, depth, GT_STACK_MAX), pcs);
	rcu_read_lock();
	s = session__find(session);
	stacks = s ? session__stacks(s) : NULL;
	if (stacks) {
		preempt_disable(); /* as in session__emit(), for the table's halves */
		/* not w->n: w may be in a map, where another CPU may have changed it */
		id = stacks__intern(stacks, hash, pcs, hash >> 56, w->cut);
		preempt_enable();
	}
	rcu_read_unlock();
	return id;
}

__bpf_kfunc int gotrace_emit(u32 session, void *rec, u32 rec__sz, u64 tail, u32 tail_len)
{
	struct session *s;
	int err = -ENOENT;

	if (!session__size_is_valid(rec__sz))
		return -EINVAL;
	if (in_nmi())
		return -EOPNOTSUPP;
	if (tail_len)
		return emit_with_tail(session, rec, rec__sz, tail, tail_len);
	rcu_read_lock();
	s = session__find(session);
	if (s)
		err = session__emit(s, rec, rec__sz, NULL, 0);
	rcu_read_unlock();
	return err;
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(gotrace_kfuncs)
BTF_ID_FLAGS(func, gotrace_stack_hash, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gotrace_stack_pcs, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gotrace_stack_id, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gotrace_emit, KF_TRUSTED_ARGS)
BTF_KFUNCS_END(gotrace_kfuncs)

static const struct btf_kfunc_id_set kfunc_set = {
	.owner = THIS_MODULE,
	.set = &gotrace_kfuncs,
};

/* One set per hook; that of TRACING includes tracepoints and, since 6.12, perf events. */
int kfuncs__register(void)
{
	int err = compat__has_btf(THIS_MODULE) ? 0 : -ENOENT;

	if (!err)
		err = register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &kfunc_set);
	return err ? err : register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &kfunc_set);
}

#else

int kfuncs__register(void)
{
	return -EOPNOTSUPP;
}

#endif
