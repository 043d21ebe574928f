/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions: who owns which memory, how long it lives, and how the kfuncs find it.
 *
 * Before it: device.c and ioctl.c (the device's files) and kfuncs.c. After it: ring.c, stacks.c.
 *
 * Locking: the table, the names, every owner and every expiry are under sessions_lock, a mutex; so
 * is what session an open file has, which is set once. The kfuncs look a session up under RCU; its
 * memory is given up a grace period after it left the table, when no one can be writing to it. The
 * checkpoints, and what poll() was told of, are under the session's own mutex. Order: mmap_lock,
 * sessions_lock, session->lock; neither of ours is held while user memory is touched. Each session
 * in the table holds a reference to the module.
 */
#ifndef KMOD_SESSION_H
#define KMOD_SESSION_H

#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "gotrace/module.h"
#include "gotrace/uapi.h"
#include "memory.h"
#include "ring.h"
#include "stacks.h"

struct checkpoint;
struct file;

struct session {
	/* read by each record, and never written after it was published, but for the two flags */
	u32 id;
	u32 rings_n;
	struct ring *rings;
	struct gt_session_page *page;
	struct stack_table stacks;
	bool frozen; /* takes no records any more */
	bool dead;   /* not in the table; set a grace period before its memory goes */

	struct kref ref; /* the table's, and one of each file that has, or had it */
	struct area *area;
	u32 flags, timeout; /* GT_SESSION_*; seconds */
	char name[GT_NAME_MAX];
	u64 checkpoint_max;
	wait_queue_head_t wait;
	struct irq_work wake;

	/* sessions_lock */
	struct pid *owner;	 /* NULL: nobody */
	struct file *owner_file; /* through which; NULL as well. Only ever compared */
	u64 expires;		 /* CLOCK_MONOTONIC, ns; 0: never */

	struct mutex lock;		   /* of what follows, and of `area` */
	struct checkpoint *checkpoints[2]; /* the newest first */
	u64 checkpoints_n;		   /* written so far */
	u64 *told; /* of each ring: its head when GT_IOC_POSITIONS told it */
};

/* Of one record: header and payload, but for a tail of at most GT_TAIL_MAX. */
#define SESSION_RECORD_MAX (sizeof(struct gt_record) + sizeof(struct gt_stack) + 8 * GT_STACK_MAX)

/* Any context. */
static inline bool session__size_is_valid(u32 rec_size)
{
	return rec_size >= sizeof(struct gt_record) && rec_size <= SESSION_RECORD_MAX &&
	       !(rec_size % 8);
}

/* By id, under rcu_read_lock(); NULL: there is none. Any context. */
struct session *session__find(u32 id);
/*
 * As gotrace_emit() says; `tail` was copied already. Under rcu_read_lock(), any context but an NMI.
 */
int session__emit(struct session *s, const void *rec, u32 rec_size, const void *tail,
		  u32 tail_size);
/* The session's table; NULL: it is frozen. Under rcu_read_lock(). */
struct stack_table *session__stacks(struct session *s);

/* ---- for the device's files; all may sleep ---- */

/*
 * What the file owns, or did; NULL: it had none. It stays valid as long as the file is open, but
 * may be dead: then it has no memory any more. Any context.
 */
struct session *session__of(struct file *file);
/*
 * What the file owns; NULL: none, or it is dead, or was given back when its owner's process ended,
 * and may be another file's by now. Any context.
 */
struct session *session__owned(struct file *file);

/*
 * The same, and no session changes its owner until session__unlock_owned(), which is to be called
 * unless it is NULL. For what is done after user memory was copied: that takes any time, in which
 * the session may have become another file's.
 */
struct session *session__lock_owned(struct file *file);
void session__unlock_owned(void);

/*
 * Makes a session that belongs to the file. Sets want's rings, id and bytes. -EINVAL: beyond the
 * limits; -EEXIST: its name is taken; -ENOSPC: GT_SESSIONS_MAX; -ENOMEM; -EBADFD: the file had a
 * session.
 */
int session__create(struct file *file, struct gt_abi_create *want);
/*
 * Takes over the one of that name; when it returns, nothing is written by a former owner's file any
 * more. -ENOENT; -EBUSY: it has an owner that lives; -EBADFD: the file had a session.
 */
int session__claim(struct file *file, struct gt_abi_claim *claim);
/*
 * The file is closed for good: its session is freed, or, if it is one to keep, given back: whoever
 * knows its name may claim it until its time-out.
 */
void session__disown(struct file *file);
/*
 * A process that has the file lets go of it. If it is its owner that ends, and the session is one
 * to keep, what came last is what is to be kept: it is frozen, and given back, whoever else has the
 * file.
 */
void session__flushed(struct file *file);
/*
 * Takes the file's out of the table and frees its memory, when no one writes to it any more.
 * -ENOENT: it owns none.
 */
int session__release(struct file *file);
/*
 * The file's takes no record from now on, and none is being written when it returns. -ENOENT: it
 * owns none.
 */
int session__freeze(struct file *file);
/* -ENOENT: it is dead. */
int session__info(struct session *s, struct gt_abi_info *ret);
/* Those with a name: at most `room` of them into ret; returns how many there are. */
u32 session__list(struct gt_abi_info *ret, u32 room);
/* All of them. Any context. */
u32 session__count(void);
/* A reference to its memory; NULL: it is dead. The address space's lock may be held. */
struct area *session__area(struct session *s);

/*
 * The heads of its rings, as many as there is room for, and that poll() need not tell of them.
 * -ENOENT: dead.
 */
int session__positions(struct session *s, u64 *heads, u32 room);
/* Whether a ring has entered a sub-buffer since. Any context that has the file open. */
bool session__readable(struct session *s);

/* Wakes who polls: emit.c's, run by session->wake. */
void session__wake(struct irq_work *work);

/*
 * Waits until none is being freed by its time-out, and stops the clock: there is no session any
 * more.
 */
void session__exit(void);

/* ---- checkpoint.c ---- */

/*
 * From user memory. -EINVAL: none, or beyond checkpoint_max; -EFAULT; -ENOMEM; -ENOENT: the file
 * owns no session, or none any more when all was copied.
 */
int checkpoint__write(struct file *file, u64 address, u64 bytes);
/*
 * To user memory; sets arg's number, time, bytes. -ENODATA; -ENOSPC: only `bytes` is set; -EFAULT;
 * -ENOENT.
 */
int checkpoint__read(struct file *file, struct gt_abi_checkpoint *arg);
/* Bytes of both. session->lock is held. */
u64 checkpoint__bytes(const struct session *s);
/* Gives both up. session->lock is held. */
void checkpoint__free(struct session *s);

#endif
