// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: the table, owners, and how they end. See session.h for all of it; emit.c takes records.
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "session.h"

static DEFINE_MUTEX(sessions_lock);
static struct session __rcu *table[GT_SESSIONS_MAX];
static u32 generations[GT_SESSIONS_MAX]; /* of each place in the table: how often it was used */
static u32 count;			 /* of sessions in it */

static void expire(struct work_struct *work);
static void give_back_of_dead(void);
static DECLARE_DELAYED_WORK(expiry, expire);

static int show_count(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%u\n", session__count());
}

static const struct kernel_param_ops count_ops = { .get = show_count };
module_param_cb(sessions, &count_ops, NULL, 0444);
MODULE_PARM_DESC(sessions, "sessions that exist");

/* sessions_lock is held. */
static struct session *at(u32 place)
{
	return rcu_dereference_protected(table[place], lockdep_is_held(&sessions_lock));
}

struct session *session__find(u32 id)
{
	struct session *s = rcu_dereference(table[id % GT_SESSIONS_MAX]);

	return s && s->id == id ? s : NULL;
}

/* sessions_lock is held. NULL: there is none. */
static struct session *by_name(const char *name)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++)
		if (at(i) && !strcmp(at(i)->name, name))
			return at(i);
	return NULL;
}

struct session *session__of(struct file *file)
{
	return smp_load_acquire(&file->private_data); /* own() has filled it in */
}

struct session *session__owned(struct file *file)
{
	struct session *s = session__of(file);

	return s && !READ_ONCE(s->dead) && READ_ONCE(s->owner_file) == file ? s : NULL;
}

struct session *session__lock_owned(struct file *file)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	s = session__owned(file);
	if (!s)
		mutex_unlock(&sessions_lock);
	return s;
}

void session__unlock_owned(void)
{
	mutex_unlock(&sessions_lock);
}

/* sessions_lock is held; the file has no session. */
static void own(struct file *file, struct session *s)
{
	s->owner = get_pid(task_tgid(current));
	WRITE_ONCE(s->owner_file, file);
	s->expires = 0;
	kref_get(&s->ref);
	smp_store_release(&file->private_data, s); /* session__of(), without the lock */
}

/* ---- the beginning ---- */

static bool power_of_two_in(u32 value, u32 min, u32 max)
{
	return is_power_of_2(value) && value >= min && value <= max;
}

static bool name_is_valid(const char *name)
{
	size_t len = strnlen(name, GT_NAME_MAX);

	for (size_t i = 0; i < len; i++)
		if (!isascii(name[i]) || !(isalnum(name[i]) || strchr("._-", name[i])))
			return false;
	return len < GT_NAME_MAX;
}

static bool is_valid(const struct gt_abi_create *want)
{
	return !(want->flags & ~GT_SESSION_KEEP) && name_is_valid(want->name) &&
	       (want->name[0] || !(want->flags & GT_SESSION_KEEP)) &&
	       want->rings <= GT_SESSION_RINGS_MAX &&
	       power_of_two_in(want->subbuf_size, GT_SUBBUF_MIN, GT_SUBBUF_MAX) &&
	       power_of_two_in(want->subbufs, GT_SUBBUFS_MIN, GT_SUBBUFS_MAX) &&
	       power_of_two_in(want->stack_words, GT_STACK_WORDS_MIN, GT_STACK_WORDS_MAX) &&
	       want->timeout <= GT_TIMEOUT_MAX && want->checkpoint_max <= GT_CHECKPOINT_MAX;
}

/* The last reference is gone; the memory was, when it left the table. Any context. */
static void destroy(struct kref *ref)
{
	struct session *s = container_of(ref, struct session, ref);

	area__put(s->area);
	kfree(s->rings);
	kfree(s->told);
	kfree(s);
}

static void lay_out(struct session *s, const struct gt_session_page *plan)
{
	void *base = area__base(s->area);

	s->page = base;
	*s->page = *plan;
	s->page->created = ktime_get_ns();
	s->page->wall = ktime_to_ns(ktime_mono_to_real(ns_to_ktime(s->page->created)));
	for (u32 i = 0; i < s->rings_n; i++)
		s->rings[i] = (struct ring){
			.control = base + plan->control_offset + i * plan->control_stride,
			.bytes = base + plan->ring_offset + i * plan->ring_stride,
			.subbuf_size = plan->subbuf_size,
			.subbufs = plan->subbufs,
		};
	s->stacks = (struct stack_table){
		.state = &s->page->stack_state,
		.lost = &s->page->stacks_lost,
		.index = base + plan->index_offset,
		.half = { base + plan->half_offset, base + plan->half_offset + plan->half_stride },
		.words = plan->stack_words,
		.slots = plan->stack_slots,
	};
}

/* A session that nobody knows yet; want->rings is set. NULL: no memory. May sleep. */
static struct session *make(const struct gt_abi_create *want)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	struct gt_session_page plan = {};
	u64 bytes = area__plan(want, &plan);

	if (!s)
		return NULL;
	kref_init(&s->ref);
	mutex_init(&s->lock);
	init_waitqueue_head(&s->wait);
	init_irq_work(&s->wake, session__wake);
	strscpy(s->name, want->name, sizeof(s->name));
	s->flags = want->flags;
	s->timeout = want->timeout;
	s->checkpoint_max = want->checkpoint_max;
	s->rings_n = want->rings;
	s->rings = kcalloc(want->rings, sizeof(*s->rings), GFP_KERNEL_ACCOUNT);
	s->told = kcalloc(want->rings, sizeof(*s->told), GFP_KERNEL_ACCOUNT);
	if (s->rings && s->told && bytes >> PAGE_SHIFT <= U32_MAX)
		s->area = area__create(bytes);
	if (!s->area) {
		kref_put(&s->ref, destroy);
		return NULL;
	}
	lay_out(s, &plan);
	return s;
}

/* sessions_lock is held. -ENOSPC: no place. */
static int publish(struct session *s)
{
	u32 place = 0;

	while (place < GT_SESSIONS_MAX && at(place))
		place++;
	if (place == GT_SESSIONS_MAX)
		return -ENOSPC;
	/* 26 bits of generation and 6 of the place: an id comes again after 67 million others */
	do {
		s->id = ++generations[place] * GT_SESSIONS_MAX + place;
	} while (s->id < GT_SESSIONS_MAX);
	__module_get(THIS_MODULE);
	rcu_assign_pointer(table[place], s);
	WRITE_ONCE(count, count + 1);
	return 0;
}

int session__create(struct file *file, struct gt_abi_create *want)
{
	struct session *s;
	int err;

	if (!is_valid(want))
		return -EINVAL;
	if (session__of(file))
		return -EBADFD; /* once more below: this one spares the memory */
	if (!want->rings)
		want->rings = min_t(u32, num_online_cpus(), GT_SESSION_RINGS_MAX);
	s = make(want);
	if (!s)
		return -ENOMEM;
	mutex_lock(&sessions_lock);
	if (session__of(file))
		err = -EBADFD;
	else if (s->name[0] && by_name(s->name))
		err = -EEXIST;
	else
		err = publish(s);
	if (!err) {
		own(file, s);
		want->id = s->id;
		want->bytes = area__bytes(s->area);
	}
	mutex_unlock(&sessions_lock);
	if (err)
		kref_put(&s->ref, destroy);
	return err;
}

int session__claim(struct file *file, struct gt_abi_claim *claim)
{
	struct session *s;
	int err = 0;

	if (!name_is_valid(claim->name) || !claim->name[0])
		return -EINVAL;
	mutex_lock(&sessions_lock);
	give_back_of_dead();
	s = by_name(claim->name);
	if (session__of(file))
		err = -EBADFD;
	else if (!s)
		err = -ENOENT;
	else if (s->owner)
		err = -EBUSY;
	if (!err) {
		own(file, s);
		claim->id = s->id;
		claim->bytes = area__bytes(s->area);
	}
	mutex_unlock(&sessions_lock);
	if (!err)
		synchronize_rcu(); /* GT_IOC_EMIT of the former owner is over */
	return err;
}

/* ---- the end ---- */

/* sessions_lock is held. */
static void drop_owner(struct session *s)
{
	put_pid(s->owner);
	s->owner = NULL;
	WRITE_ONCE(s->owner_file, NULL);
}

/* sessions_lock is held, and it is not dead: nobody finds it any more. */
static void unlink(struct session *s)
{
	WRITE_ONCE(s->dead, true);
	RCU_INIT_POINTER(table[s->id % GT_SESSIONS_MAX], NULL);
	WRITE_ONCE(count, count - 1);
	drop_owner(s);
}

/*
 * Of what was unlinked: gives its memory up, when nobody writes to it. May sleep, for a grace
 * period; no lock is held. The module may be unloaded from then on, unless the caller is a file of
 * it, or waited for by session__exit().
 */
static void finish(struct session *s)
{
	struct area *area;

	synchronize_rcu();
	irq_work_sync(&s->wake);
	mutex_lock(&s->lock);
	checkpoint__free(s);
	area = s->area;
	s->area = NULL;
	mutex_unlock(&s->lock);
	area__put(area);
	wake_up_interruptible_all(&s->wait);
	kref_put(&s->ref, destroy);
	module_put(THIS_MODULE);
}

int session__release(struct file *file)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	s = session__owned(file);
	if (s)
		unlink(s);
	mutex_unlock(&sessions_lock);
	if (!s)
		return -ENOENT;
	finish(s);
	return 0;
}

/* sessions_lock is held. Sets the clock for the next session that is to go. */
static void arm(void)
{
	u64 now = ktime_get_ns(), next = U64_MAX;

	for (u32 i = 0; i < GT_SESSIONS_MAX; i++)
		if (at(i) && at(i)->expires)
			next = min(next, at(i)->expires);
	cancel_delayed_work(&expiry);
	if (next != U64_MAX)
		schedule_delayed_work(&expiry, next > now ? nsecs_to_jiffies(next - now) + 1 : 0);
}

/* sessions_lock is held. Unlinks one whose time has come; NULL: there is none. */
static struct session *unlink_expired(u64 now)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		struct session *s = at(i);

		if (s && s->expires && s->expires <= now) {
			unlink(s);
			return s;
		}
	}
	return NULL;
}

/* In a worker. */
static void expire(struct work_struct *work)
{
	struct session *s;

	do {
		mutex_lock(&sessions_lock);
		s = unlink_expired(ktime_get_ns());
		if (!s)
			arm();
		mutex_unlock(&sessions_lock);
		if (s)
			finish(s);
	} while (s);
}

/* sessions_lock is held; it is one to keep, and not dead. Whoever comes may claim it now. */
static void give_back(struct session *s)
{
	drop_owner(s);
	if (s->timeout)
		s->expires = ktime_get_ns() + s->timeout * NSEC_PER_SEC;
	arm();
}

void session__disown(struct file *file)
{
	struct session *s = session__of(file);

	if (!s)
		return;
	if (s->flags & GT_SESSION_KEEP) {
		mutex_lock(&sessions_lock);
		if (session__owned(file))
			give_back(s);
		mutex_unlock(&sessions_lock);
	} else {
		session__release(file);
	}
	kref_put(&s->ref, destroy);
}

/* sessions_lock is held, and it is not dead. */
static void stop(struct session *s)
{
	if (s->frozen)
		return;
	WRITE_ONCE(s->page->frozen, ktime_get_ns());
	WRITE_ONCE(s->frozen, true);
	wake_up_interruptible_all(&s->wait);
}

/*
 * One thread of a process may end, or have its own descriptors, while others go on; so it is the
 * process's end only when it is killed as a whole, or this is its last thread.
 */
void session__flushed(struct file *file)
{
	struct session *s;

	if (!(current->flags & PF_EXITING) ||
	    (atomic_read(&current->signal->live) && !(current->signal->flags & SIGNAL_GROUP_EXIT)))
		return;
	mutex_lock(&sessions_lock);
	s = session__owned(file);
	if (s && s->flags & GT_SESSION_KEEP && s->owner == task_tgid(current)) {
		stop(s);
		give_back(s);
	}
	mutex_unlock(&sessions_lock);
}

/* Its last thread has exited, or is about to. */
static bool is_dead(struct pid *owner)
{
	struct task_struct *task;
	bool dead;

	rcu_read_lock();
	task = pid_task(owner, PIDTYPE_TGID);
	dead = !task || !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return dead;
}

/*
 * sessions_lock is held. session__flushed() is not called for an owner that ended while a process
 * with the same table of descriptors (CLONE_FILES) lives: the next lookup of a session does its
 * work.
 */
static void give_back_of_dead(void)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		struct session *s = at(i);

		if (s && s->owner && s->flags & GT_SESSION_KEEP && is_dead(s->owner)) {
			stop(s);
			give_back(s);
		}
	}
}

int session__freeze(struct file *file)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	s = session__owned(file);
	if (s)
		stop(s);
	mutex_unlock(&sessions_lock);
	if (!s)
		return -ENOENT;
	synchronize_rcu();
	return 0;
}

void session__exit(void)
{
	cancel_delayed_work_sync(&expiry);
}

/* ---- what there is ---- */

/* sessions_lock is held, and it is not dead. */
static void describe(struct session *s, struct gt_abi_info *ret)
{
	*ret = (struct gt_abi_info){
		.size = sizeof(*ret),
		.flags = s->flags,
		.id = s->id,
		.owner = pid_nr(s->owner),
		.created = s->page->created,
		.frozen = s->page->frozen,
		.expires = s->expires,
		.bytes = area__bytes(s->area),
	};
	memcpy(ret->name, s->name, sizeof(ret->name));
	mutex_lock(&s->lock);
	ret->checkpoint_bytes = checkpoint__bytes(s);
	ret->checkpoints = s->checkpoints_n;
	mutex_unlock(&s->lock);
}

int session__info(struct session *s, struct gt_abi_info *ret)
{
	int err = -ENOENT;

	mutex_lock(&sessions_lock);
	if (!s->dead) {
		describe(s, ret);
		err = 0;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

u32 session__list(struct gt_abi_info *ret, u32 room)
{
	u32 n = 0;

	mutex_lock(&sessions_lock);
	give_back_of_dead();
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		if (!at(i) || !at(i)->name[0])
			continue;
		if (n < room)
			describe(at(i), &ret[n]);
		n++;
	}
	mutex_unlock(&sessions_lock);
	return n;
}

u32 session__count(void)
{
	return READ_ONCE(count);
}

struct area *session__area(struct session *s)
{
	struct area *area;

	mutex_lock(&s->lock);
	area = s->area;
	if (area)
		area__get(area);
	mutex_unlock(&s->lock);
	return area;
}
