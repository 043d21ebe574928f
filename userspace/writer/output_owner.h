/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives output files to the user who runs the program as root through sudo.
 *
 * That user is named by SUDO_UID and SUDO_GID, which are honoured if the real and the effective
 * user are root. Another user than root cannot set them: sudo(8) does, and a set-user-ID program is
 * not run as root by its real user. A file is given only if its directory belongs to that user, who
 * could replace every file in it. Everywhere else, such as in /tmp, root keeps what it creates.
 */
#ifndef WRITER_OUTPUT_OWNER_H
#define WRITER_OUTPUT_OWNER_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Whether there is such a user. Then later files can be given only with CAP_CHOWN. */
bool output_owner__is_set(void);

/*
 * Gives the open file, which the caller has just created (O_EXCL), in the directory that `dir` is a
 * descriptor of. On failure root keeps the file, which is written all the same; the first time a warning is printed.
 */
void output_owner__give(int fd, int dir);

/*
 * Gives a directory that the caller has created after `begin`, and opened for reading, if the
 * directory above belongs to the user. That user may have put an older directory of root in its
 * place before it was opened: it is recognized by the time of its creation, and not given.
 */
struct timespec output_owner__now(void);
void output_owner__give_dir(int fd, const struct timespec *begin);

/*
 * Creates the directory `name` in `dir`, and gives it as above; an existing one is only opened. A
 * link is not followed. Returns a descriptor or a negative errno.
 */
int output_owner__open_dir(int dir, const char *name, mode_t mode);

/*
 * Whether a file in `dir` is under the control of this user or of the owner of the directory, who
 * may replace or remove it anyway: the user whom an earlier call of this program has given it to.
 */
bool output_owner__is_trusted(uid_t owner, int dir);

#endif
