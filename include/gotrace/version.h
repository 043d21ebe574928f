/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The version of both programs, the kernel module and the manuals. dkms.conf and the Makefile read
 * this file, too.
 */
#ifndef GOTRACE_VERSION_H
#define GOTRACE_VERSION_H

#define GOTRACE_VERSION "0.1"

#endif
