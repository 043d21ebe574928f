// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace-bpf recover --list: see blackbox_list.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/kmod.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "blackbox_list.h"

const char *blackbox__span(uint64_t ns, char *text, size_t size)
{
	double s = (double)ns / 1e9;

	if (s < 120)
		snprintf(text, size, "%.1f s", s);
	else if (s < 7200)
		snprintf(text, size, "%.0f min", s / 60);
	else
		snprintf(text, size, "%.1f h", s / 3600);
	return text;
}

/* Duration of the recording; only its last part may still be in the buffer. */
static uint64_t recorded(const struct gt_abi_info *info, uint64_t now)
{
	uint64_t end = info->frozen ? info->frozen : now;

	return end > info->created ? end - info->created : 0;
}

static uint64_t left(uint64_t then, uint64_t now)
{
	return then > now ? then - now : 0;
}

static void print_row(const struct gt_abi_info *info, uint64_t now)
{
	char age[24], length[24], expires[24] = "-", owner[16] = "-";

	if (info->owner)
		snprintf(owner, sizeof(owner), "%u", info->owner);
	if (info->expires)
		blackbox__span(left(info->expires, now), expires, sizeof(expires));
	printf("%-*s %8s %10s %7.1f MiB  %-10s %-9s %10s\n", GT_NAME_MAX - 1, info->name, owner,
	       blackbox__span(left(now, info->created), age, sizeof(age)),
	       (double)(info->bytes + info->checkpoint_bytes) / (1 << 20),
	       blackbox__span(recorded(info, now), length, sizeof(length)),
	       info->frozen ? "ended" : "recording", expires);
}

static void print_table(const struct gt_abi_info *info, size_t n, uint64_t now)
{
	printf("%-*s %8s %10s %11s  %-10s %-9s %10s\n", GT_NAME_MAX - 1, "NAME", "OWNER", "AGE",
	       "MEMORY", "RECORDED", "STATE", "EXPIRES IN");
	for (size_t i = 0; i < n; i++)
		print_row(&info[i], now);
}

static void print_json(const struct gt_abi_info *info, size_t n, uint64_t now)
{
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '[');
	for (size_t i = 0; i < n; i++) {
		json__open(&j, NULL, '{');
		json__string(&j, "name", info[i].name);
		if (info[i].owner)
			json__u64(&j, "owner", info[i].owner);
		else
			json__null(&j, "owner");
		json__double(&j, "age_s", (double)left(now, info[i].created) / 1e9);
		json__double(&j, "recorded_s", (double)recorded(&info[i], now) / 1e9);
		json__bool(&j, "ended", info[i].frozen);
		json__u64(&j, "bytes", info[i].bytes);
		json__u64(&j, "checkpoint_bytes", info[i].checkpoint_bytes);
		json__u64(&j, "checkpoints", info[i].checkpoints);
		if (info[i].expires)
			json__double(&j, "expires_in_s", (double)left(info[i].expires, now) / 1e9);
		else
			json__null(&j, "expires_in_s");
		json__close(&j, '}');
	}
	json__close(&j, ']');
}

static int list(struct kmod *kmod, struct gt_abi_info **ret, size_t *ret_n, struct error *error)
{
	int err = kmod__list(kmod, ret, ret_n, error);

	for (size_t i = 0; !err && i < *ret_n; i++)
		(*ret)[i].name[GT_NAME_MAX - 1] = '\0';
	return err;
}

int blackbox__list(struct kmod *kmod, bool json, struct error *error)
{
	struct gt_abi_info *info;
	size_t n;
	int err = list(kmod, &info, &n, error);

	if (err)
		return err;
	(json ? print_json : print_table)(info, n, clock__now());
	free(info);
	if (fflush(stdout) || ferror(stdout))
		return error__set(error, -EIO, "standard output: %s", strerror(errno));
	return 0;
}

int blackbox__owner(struct kmod *kmod, const char *name, bool *ret_ended)
{
	struct gt_abi_info *info;
	int owner = 0;
	size_t n, i;

	*ret_ended = false;
	if (list(kmod, &info, &n, NULL))
		return 0;
	for (i = 0; i < n; i++) {
		if (strcmp(info[i].name, name))
			continue;
		owner = (int)info[i].owner;
		*ret_ended = info[i].frozen;
	}
	free(info);
	return owner;
}
