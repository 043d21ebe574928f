/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a thread keeps its current g: for probes that interrupt code which is not Go's, where R14 is
 * anything.
 */
#ifndef TARGET_TLS_H
#define TARGET_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "target/elf.h"
#include "target/pclntab.h"

/*
 * The offset of g from a thread's FS base, in bytes: -8 where there is no thread-local data but Go's,
 * further down beside that of C. False: the code says it in no way that is known.
 */
bool tls__offset_of_g(const struct elf_image *elf, const struct pclntab *pt, int64_t *ret);

#endif
