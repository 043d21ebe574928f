/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel module from userspace: /dev/gotrace, its sessions, their memory.
 *
 * Required only for the kernel flight recorder (blackbox.h). The mapped memory is read-only and
 * written by the module alone, so it is trusted like the kernel; a copy of it in a file is not.
 */
#ifndef CAPTURE_KMOD_H
#define CAPTURE_KMOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/uapi.h"
#include "lib/error.h"

struct kmod; /* an open file of the device, and the session that it owns, if any */

/* -ENOENT: the module is not loaded. Each failure has a reason with its remedy. */
int kmod__open(struct kmod **ret, struct error *error);
void kmod__close(struct kmod *k); /* NULL allowed; unmaps */
/* Whether BPF programs can call the module: it has BTF, and reports the feature. */
bool kmod__has_kfuncs(const struct kmod *k);

/* Creates the session that `want` describes, and maps it. Sets want->size, ->id and ->bytes. */
int kmod__create(struct kmod *k, struct gt_abi_create *want, struct error *error);
/*
 * Becomes the owner of a kept session of that name, and maps it. -ENOENT: none; -EBUSY: it has an
 * owner.
 */
int kmod__claim(struct kmod *k, const char *name, struct error *error);
/* All named sessions; free(*ret). */
int kmod__list(struct kmod *k, struct gt_abi_info **ret, size_t *ret_n, struct error *error);
int kmod__freeze(struct kmod *k, struct error *error);
int kmod__release(struct kmod *k, struct error *error);
int kmod__write_checkpoint(struct kmod *k, const void *data, size_t size, struct error *error);
/* which: 0 for the newest, 1 for the one before; free(*ret). -ENODATA: there is none. */
int kmod__read_checkpoint(struct kmod *k, unsigned int which, void **ret, size_t *ret_size,
			  struct gt_abi_checkpoint *ret_facts, struct error *error);

/* The memory of the owned session, of kmod__bytes(); NULL without a session. */
const struct gt_session_page *kmod__memory(const struct kmod *k);
size_t kmod__bytes(const struct kmod *k);

#endif
