/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions: who owns which memory, how long it lives, and how the kfuncs find it.
 *
 * Before it: main.c (the device's files and ioctls) and kfuncs.c. After it: ring.c, stacks.c.
 *
 * Locking: `sessions` (the table and the names), every owner and every expiry are under sessions_lock, a mutex.
 * The kfuncs look a session up under RCU; it is freed a grace period after it left the table, when
 * no one can be writing to it. A checkpoint is replaced under the session's own mutex. Each session holds a
 * reference to the module.
 */
#ifndef KMOD_SESSION_H
#define KMOD_SESSION_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "gotrace/module.h"
#include "gotrace/uapi.h"
#include "ring.h"
#include "stacks.h"

struct session;

/* By id, under rcu_read_lock(); NULL: there is none. Any context. */
struct session *session__find(u32 id);
/* As gotrace_emit() says; `tail` was copied already. Under rcu_read_lock(), any context but an NMI. */
int session__emit(struct session *s, const void *rec, u32 rec_size, const void *tail,
		  u32 tail_size);
/* The session's table; under rcu_read_lock(). */
struct stack_table *session__stacks(struct session *s);

#endif
