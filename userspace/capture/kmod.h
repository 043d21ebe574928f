/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module from userspace: /dev/gotrace, its sessions, their memory.
 *
 * Optional everywhere but for a black box (blackbox.h). What the kernel maps is read-only and kept by the
 * module, so it is trusted no less than the kernel; a copy of it in a file is not.
 */
#ifndef CAPTURE_KMOD_H
#define CAPTURE_KMOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/uapi.h"
#include "lib/error.h"

struct kmod; /* an open file of the device, and the session that it owns, if any */

/* -ENOENT: the module is not loaded; else why not, each with its remedy. */
int kmod__open(struct kmod **ret, struct error *err);
void kmod__close(struct kmod *k); /* NULL allowed; unmaps */
const struct gt_abi *kmod__abi(const struct kmod *k);
/* Whether BPF programs can call the module: by its BTF and its features. */
bool kmod__has_kfuncs(const struct kmod *k);

/* Creates the session that `want` describes (size is filled in here), and maps it. want->id and ->bytes are set. */
int kmod__create(struct kmod *k, struct gt_abi_create *want, struct error *err);
/* Takes over a kept session by its name, and maps it. -ENOENT: there is none; -EBUSY: it has an owner. */
int kmod__claim(struct kmod *k, const char *name, struct error *err);
/* Of the session that is owned. */
int kmod__info(struct kmod *k, struct gt_abi_info *ret, struct error *err);
/* All named sessions; free(*ret). */
int kmod__list(struct kmod *k, struct gt_abi_info **ret, size_t *ret_n, struct error *err);
int kmod__freeze(struct kmod *k, struct error *err);
int kmod__release(struct kmod *k, struct error *err);
int kmod__write_checkpoint(struct kmod *k, const void *data, size_t size, struct error *err);
/* which: 0 the newest, 1 the one before; free(*ret). -ENODATA: there is none. */
int kmod__read_checkpoint(struct kmod *k, unsigned int which, void **ret, size_t *ret_size,
			  struct gt_abi_checkpoint *ret_facts, struct error *err);

/* The session's memory, `kmod__bytes` long; NULL without a session. */
const struct gt_session_page *kmod__memory(const struct kmod *k);
size_t kmod__bytes(const struct kmod *k);
int kmod__fd(const struct kmod *k);

#endif
