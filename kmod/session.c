// SPDX-License-Identifier: GPL-2.0
/* Sessions: the table, owners, and their end. session.h has an overview; emit.c handles records. */
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
static u32 generations[GT_SESSIONS_MAX]; /* per place in the table: how often it was used */
static u32 count;			 /* number of sessions in the table */

static void expire(struct work_struct *work);
static void release_dead_owners(void);
static DECLARE_DELAYED_WORK(expiry, expire);

static int show_count(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%u\n", session__count());
}

static const struct kernel_param_ops count_ops = { .get = show_count,
						   .set = memory__refuse_parameter };
module_param_cb(sessions, &count_ops, NULL, 0444);
MODULE_PARM_DESC(sessions, "number of sessions");

/* sessions_lock is held. */
static struct session *session_at(u32 place)
{
	return rcu_dereference_protected(table[place], lockdep_is_held(&sessions_lock));
}

struct session *session__find(u32 id)
{
	struct session *s = rcu_dereference(table[id % GT_SESSIONS_MAX]);

	return s && s->id == id ? s : NULL;
}

/* sessions_lock is held. NULL: not found. */
static struct session *session_by_name(const char *name)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++)
		if (session_at(i) && !strcmp(session_at(i)->name, name))
			return session_at(i);
	return NULL;
}

struct session *session__of(struct file *file)
{
	return smp_load_acquire(&file->private_data); /* pairs with set_owner() */
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
static void set_owner(struct file *file, struct session *s)
{
	s->owner = get_pid(task_tgid(current));
	WRITE_ONCE(s->owner_file, file);
	s->expires = 0;
	kref_get(&s->ref);
	smp_store_release(&file->private_data, s); /* for session__of(), which takes no lock */
}

/* ---- creation ---- */

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

static u64 rings_bytes(const struct session *s)
{
	return s->rings_n * (u64)(sizeof(*s->rings) + sizeof(*s->reported));
}

/* Called with the last reference; the memory was freed on removal from the table. May sleep. */
static void destroy(struct kref *ref)
{
	struct session *s = container_of(ref, struct session, ref);

	area__put(s->area);
	memory__free(s->rings, rings_bytes(s));
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

/* A new session that is not in the table; want->rings is set. NULL: no memory. May sleep. */
static struct session *alloc_session(const struct gt_abi_create *want)
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
	s->rings = memory__alloc(rings_bytes(s));
	if (s->rings && bytes >> PAGE_SHIFT <= U32_MAX)
		s->area = area__create(bytes);
	if (!s->area) {
		kref_put(&s->ref, destroy);
		return NULL;
	}
	s->reported = (u64 *)(s->rings + s->rings_n);
	lay_out(s, &plan);
	return s;
}

/* sessions_lock is held. -ENOSPC: the table is full. */
static int publish(struct session *s)
{
	u32 place = 0;

	while (place < GT_SESSIONS_MAX && session_at(place))
		place++;
	if (place == GT_SESSIONS_MAX)
		return -ENOSPC;
	/* 26 bits of generation and 6 of the place: an id is reused after 67 million sessions */
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
		return -EBADFD; /* checked again below; here it saves allocating memory */
	if (!want->rings)
		want->rings = min_t(u32, num_online_cpus(), GT_SESSION_RINGS_MAX);
	s = alloc_session(want);
	if (!s)
		return -ENOMEM;
	mutex_lock(&sessions_lock);
	if (session__of(file))
		err = -EBADFD;
	else if (s->name[0] && session_by_name(s->name))
		err = -EEXIST;
	else
		err = publish(s);
	if (!err) {
		set_owner(file, s);
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
	release_dead_owners();
	s = session_by_name(claim->name);
	if (session__of(file))
		err = -EBADFD;
	else if (!s)
		err = -ENOENT;
	else if (s->owner)
		err = -EBUSY;
	if (!err) {
		set_owner(file, s);
		claim->id = s->id;
		claim->bytes = area__bytes(s->area);
	}
	mutex_unlock(&sessions_lock);
	if (!err)
		synchronize_rcu(); /* until GT_IOC_EMIT of the former owner has ended */
	return err;
}

/* ---- end ---- */

/* sessions_lock is held. */
static void drop_owner(struct session *s)
{
	put_pid(s->owner);
	s->owner = NULL;
	WRITE_ONCE(s->owner_file, NULL);
}

/* sessions_lock is held, the session is not dead. Removes it from the table. */
static void remove_session(struct session *s)
{
	WRITE_ONCE(s->dead, true);
	RCU_INIT_POINTER(table[s->id % GT_SESSIONS_MAX], NULL);
	WRITE_ONCE(count, count - 1);
	drop_owner(s);
}

/*
 * After remove_session(): frees the memory when all writers have left. May sleep, for a grace
 * period; no lock is held. The module may be unloaded from then on, unless the caller is a file of
 * it, or session__exit() waits for the caller.
 */
static void free_removed(struct session *s)
{
	struct ring *rings;
	struct area *area;

	synchronize_rcu();
	irq_work_sync(&s->wake);
	mutex_lock(&s->lock);
	checkpoint__free(s);
	area = s->area;
	rings = s->rings;
	s->area = NULL;
	s->rings = NULL;
	mutex_unlock(&s->lock);
	area__put(area);
	memory__free(rings, rings_bytes(s));
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
		remove_session(s);
	mutex_unlock(&sessions_lock);
	if (!s)
		return -ENOENT;
	free_removed(s);
	return 0;
}

/* sessions_lock is held. Sets the timer for the next session to expire. */
static void arm_expiry(void)
{
	u64 now = ktime_get_ns(), next = U64_MAX;

	for (u32 i = 0; i < GT_SESSIONS_MAX; i++)
		if (session_at(i) && session_at(i)->expires)
			next = min(next, session_at(i)->expires);
	cancel_delayed_work(&expiry);
	if (next != U64_MAX)
		schedule_delayed_work(&expiry, next > now ? nsecs_to_jiffies(next - now) + 1 : 0);
}

/* sessions_lock is held. Removes one expired session; NULL: none. */
static struct session *remove_expired(u64 now)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		struct session *s = session_at(i);

		if (s && s->expires && s->expires <= now) {
			remove_session(s);
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
		s = remove_expired(ktime_get_ns());
		if (!s)
			arm_expiry();
		mutex_unlock(&sessions_lock);
		if (s)
			free_removed(s);
	} while (s);
}

/* sessions_lock is held; the session has GT_SESSION_KEEP, and is not dead. Allows to claim it. */
static void release_owner(struct session *s)
{
	drop_owner(s);
	if (s->timeout)
		s->expires = ktime_get_ns() + s->timeout * NSEC_PER_SEC;
	arm_expiry();
}

void session__disown(struct file *file)
{
	struct session *s = session__of(file);

	if (!s)
		return;
	if (s->flags & GT_SESSION_KEEP) {
		mutex_lock(&sessions_lock);
		if (session__owned(file))
			release_owner(s);
		mutex_unlock(&sessions_lock);
	} else {
		session__release(file);
	}
	kref_put(&s->ref, destroy);
}

/* sessions_lock is held, the session is not dead. */
static void freeze_session(struct session *s)
{
	if (s->frozen)
		return;
	WRITE_ONCE(s->page->frozen, ktime_get_ns());
	WRITE_ONCE(s->frozen, true);
	wake_up_interruptible_all(&s->wait);
}

/*
 * A thread may end, or have descriptors of its own, while others of its process continue; so the
 * process ends only if it is killed as a whole, or this is its last thread.
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
		freeze_session(s);
		release_owner(s);
	}
	mutex_unlock(&sessions_lock);
}

/* Whether the last thread of the owner has exited, or is about to. */
static bool owner_is_dead(struct pid *owner)
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
 * with the same descriptor table (CLONE_FILES) lives: the next lookup of a session does the same.
 */
static void release_dead_owners(void)
{
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		struct session *s = session_at(i);

		if (s && s->owner && s->flags & GT_SESSION_KEEP && owner_is_dead(s->owner)) {
			freeze_session(s);
			release_owner(s);
		}
	}
}

int session__freeze(struct file *file)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	s = session__owned(file);
	if (s)
		freeze_session(s);
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

/* ---- queries ---- */

/* sessions_lock is held, the session is not dead. */
static void fill_info(struct session *s, struct gt_abi_info *ret)
{
	*ret = (struct gt_abi_info){
		.size = sizeof(*ret),
		.flags = s->flags,
		.id = s->id,
		.owner = pid_vnr(s->owner),
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
		fill_info(s, ret);
		err = 0;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

u32 session__list(struct gt_abi_info *ret, u32 room)
{
	u32 n = 0;

	mutex_lock(&sessions_lock);
	release_dead_owners();
	for (u32 i = 0; i < GT_SESSIONS_MAX; i++) {
		if (!session_at(i) || !session_at(i)->name[0])
			continue;
		if (n < room)
			fill_info(session_at(i), &ret[n]);
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
