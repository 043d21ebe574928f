/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions: who owns which memory, its lifetime, and how the kfuncs find it.
 *
 * Upstream: main.c and ioctl.c (the device's files) and kfuncs.c. Downstream: ring.c, stacks.c.
 *
 * Locking: sessions_lock, a mutex, protects the table, names, owners and expiry, and the session of
 * an open file, which is set once. The kfuncs look a session up under RCU; its memory is freed a
 * grace period after it left the table, when all writers have left. The session's own mutex
 * protects its checkpoints and what poll() has reported. Order: mmap_lock, sessions_lock,
 * session->lock; neither of ours is held while user memory is accessed. Each session in the table
 * holds a reference to the module.
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
	/* read for each record, and not written after publication except for the two flags */
	u32 id;
	u32 rings_n;
	struct ring *rings;
	struct gt_session_page *page;
	struct stack_table stacks;
	bool frozen; /* records are rejected */
	bool dead;   /* not in the table; set a grace period before its memory is freed */

	struct kref ref; /* held by the table and by each file that owns or owned it */
	struct area *area;
	u32 flags, timeout; /* GT_SESSION_*; seconds */
	char name[GT_NAME_MAX];
	u64 checkpoint_max;
	wait_queue_head_t wait;
	struct irq_work wake;

	/* sessions_lock */
	struct pid *owner;	 /* NULL: none */
	struct file *owner_file; /* its file, or NULL; only compared, never dereferenced */
	u64 expires;		 /* CLOCK_MONOTONIC, ns; 0: never */

	struct mutex lock;		   /* protects the following members, and `area` */
	struct checkpoint *checkpoints[2]; /* the newest first */
	u64 checkpoints_n;		   /* written so far */
	u64 *reported; /* per ring, behind `rings`: its head at the last GT_IOC_POSITIONS */
};

/* Header and payload of one record, without a tail of at most GT_TAIL_MAX. */
#define SESSION_RECORD_MAX (sizeof(struct gt_record) + sizeof(struct gt_stack) + 8 * GT_STACK_MAX)

/* Any context. */
static inline bool session__size_is_valid(u32 rec_size)
{
	return rec_size >= sizeof(struct gt_record) && rec_size <= SESSION_RECORD_MAX &&
	       !(rec_size % 8);
}

/* By id, under rcu_read_lock(); NULL: not found. Any context. */
struct session *session__find(u32 id);
/* See gotrace_emit(); `tail` is a kernel copy. Under rcu_read_lock(), any context but an NMI. */
int session__emit(struct session *s, const void *rec, u32 rec_size, const void *tail,
		  u32 tail_size);
/* The session's table; NULL: it is frozen. Under rcu_read_lock(). */
struct stack_table *session__stacks(struct session *s);

/* ---- for the device's files; all may sleep ---- */

/*
 * The session that the file owns or owned; NULL: none. Valid as long as the file is open, but may
 * be dead, and then has no memory. Any context.
 */
struct session *session__of(struct file *file);
/*
 * The session that the file owns; NULL: none, or it is dead, or lost its owner with the owner's
 * process, so that another file may own it by now. Any context.
 */
struct session *session__owned(struct file *file);

/*
 * The same, and no session changes its owner until session__unlock_owned(), which must be called
 * unless NULL is returned. For use after user memory was copied, which may take so long that
 * another file owns the session by then.
 */
struct session *session__lock_owned(struct file *file);
void session__unlock_owned(void);

/*
 * Creates a session that the file owns. Sets want's rings, id and bytes. -EINVAL: beyond the
 * limits; -EEXIST: the name is in use; -ENOSPC: GT_SESSIONS_MAX; -ENOMEM; -EBADFD: the file had a
 * session.
 */
int session__create(struct file *file, struct gt_abi_create *want);
/*
 * Takes over the session with that name; when it returns, former owners no longer write to it.
 * -ENOENT; -EBUSY: it has an owner that lives; -EBADFD: the file had a session.
 */
int session__claim(struct file *file, struct gt_abi_claim *claim);
/*
 * The file was released: frees its session or, with GT_SESSION_KEEP, leaves it without an owner, to
 * be claimed by name until its timeout.
 */
void session__disown(struct file *file);
/*
 * A process closes the file. If it is the owner that ends, and the session has GT_SESSION_KEEP, the
 * session is frozen, to keep the latest records, and has no owner any more, whatever other
 * processes have the file.
 */
void session__flushed(struct file *file);
/*
 * Removes the file's session from the table and frees its memory when all writers have left.
 * -ENOENT: it owns none.
 */
int session__release(struct file *file);
/*
 * The file's session rejects records from now on, and none is being written when it returns.
 * -ENOENT: it owns none.
 */
int session__freeze(struct file *file);
/* -ENOENT: it is dead. */
int session__info(struct session *s, struct gt_abi_info *ret);
/* Copies at most `room` sessions with a name into ret; returns their total number. */
u32 session__list(struct gt_abi_info *ret, u32 room);
/* Number of all sessions. Any context. */
u32 session__count(void);
/* A reference to its memory; NULL: it is dead. The address space's lock may be held. */
struct area *session__area(struct session *s);

/* The heads of at most `room` rings; poll() reports only what is after them. -ENOENT: dead. */
int session__positions(struct session *s, u64 *heads, u32 room);
/* Whether a ring has entered a sub-buffer since. Any context that has the file open. */
bool session__readable(struct session *s);

/* Wakes those who poll; in emit.c, run by session->wake. */
void session__wake(struct irq_work *work);

/* Stops the timer, and waits until it frees no session: there is none any more. */
void session__exit(void);

/* ---- checkpoint.c ---- */

/*
 * Copies from user memory. -EINVAL: empty, or beyond checkpoint_max; -EFAULT; -ENOMEM; -ENOENT: the
 * file owns no session, or none any more after copying.
 */
int checkpoint__write(struct file *file, u64 address, u64 bytes);
/*
 * Copies to user memory; sets arg's number, time, bytes. -ENODATA; -ENOSPC: only `bytes` is set;
 * -EFAULT; -ENOENT.
 */
int checkpoint__read(struct file *file, struct gt_abi_checkpoint *arg);
/* Bytes of both checkpoints. session->lock is held. */
u64 checkpoint__bytes(const struct session *s);
/* Frees both. session->lock is held. */
void checkpoint__free(struct session *s);

#endif
