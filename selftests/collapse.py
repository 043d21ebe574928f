"""Makes the kernel move the pages of a process: collapses its anonymous memory into huge pages and splits these.

    collapse.py PID    until the process ends; then prints how often a part was collapsed

Meanwhile programs of probes cannot read these pages (process_madvise(), MADV_COLLAPSE of Linux 6.1).
"""

import ctypes
import os
import sys

MADV_COLD, MADV_COLLAPSE = 20, 25
PROCESS_MADVISE = 440  # number of the system call
HUGE, PAGE = 2 << 20, 4096

libc = ctypes.CDLL(None, use_errno=True)


class Range(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def advise(process, start, size, advice):
    what = Range(start, size)
    return libc.syscall(PROCESS_MADVISE, process, ctypes.byref(what), ctypes.c_size_t(1), advice, 0) == size


def anonymous(pid):
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            fields = line.split()
            start, end = (int(word, 16) for word in fields[0].split("-"))
            if fields[1] == "rw-p" and fields[4] == "0":
                yield from range((start + HUGE - 1) & -HUGE, end & -HUGE, HUGE)


def main(pid):
    collapsed = 0
    try:
        process = os.pidfd_open(pid)
        while parts := list(anonymous(pid)):
            for part in parts:
                if advise(process, part, HUGE, MADV_COLLAPSE):
                    collapsed += 1
                    advise(process, part + PAGE, PAGE, MADV_COLD)  # splits it
    except (ProcessLookupError, FileNotFoundError):
        pass
    print(collapsed)


main(int(sys.argv[1]))
