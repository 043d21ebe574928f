"""A trace in which goroutines, threads and CPUs are in each state for known times, and these times.

write(path) writes the trace, whose bytes follow the formats of Go and gotrace-private(5), and returns what it
shows: for each lane of a report, (from, to, kind) of its states, in ns after the first event.

Goroutine 1 and CPU 0 are in one state after the other, each for tens of ms. From 0 to 400 ms goroutines 2 and 3
and the CPUs 1 and 2 change their state every few us. From 641 to 659 ms Go's events are lost, from 900 to 940 ms those
of the kernel.
"""
import collections

START = 10**9  # of the trace
LENGTH = 10**9
CYCLE = 100_000  # of the goroutines and CPUs that change often
CYCLES_END = 400_000_000
LOST = (900_000_000, 940_000_000)
GO_LOST = (641_000_000, 659_000_000)
NO_M = 2**64 - 1
OTHER, THIRD = 900, 901  # threads of other processes

BATCH, STACKS, STACK, STRINGS, STRING, FREQUENCY, PROC_STATUS = 1, 2, 3, 4, 5, 8, 13
GO_START, GO_STOP, GO_BLOCK, GO_UNBLOCK, SYSCALL_BEGIN, SYSCALL_END, GO_STATUS = 16, 19, 20, 21, 22, 23, 25
STW_BEGIN, STW_END, GC_BEGIN, GC_END, HEAP_ALLOC, TASK_BEGIN, TASK_END = 26, 27, 29, 30, 37, 40, 41
ON, OFF = 1, 2
PREEMPTED, _, THROTTLED, SLEEPING, DISK, STOPPED = range(6)
LOSSES, THREADS, KERNEL = 2, 6, 7  # private records
GT_EXECUTE, GT_CPU_ON = 1, 56

MS = 1_000_000


def leb(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def lebs(*numbers):
    return b"".join(map(leb, numbers))


class Trace:
    def __init__(self):
        self.events = collections.defaultdict(list)  # by thread: (time, kind, arguments)
        self.items = []  # kernel events: (time, kind, thread, CPU, other, why)
        self.shown = collections.defaultdict(list)
        self.seq = collections.Counter()
        self.strings = [b"chan receive", b"stop", b"task", b"main.main"]

    def event(self, m, time, kind, *args):
        self.events[m].append((time, kind, args))

    def show(self, lane, start, end, kind):
        self.shown[lane].append((start, end, kind))

    def start(self, m, g, time):
        self.seq[g] += 1
        self.event(m, time, GO_START, g, self.seq[g])

    def on(self, time, tid, cpu, before):
        self.items.append((time, ON, tid, cpu, before, 0))

    def off(self, time, tid, cpu, then, why):
        self.items.append((time, OFF, tid, cpu, then, why))

    # ---- bytes ----

    def batch(self, m, time, data):
        return bytes([BATCH]) + lebs(1, m, time, len(data)) + data

    def batches(self, m):
        data, begin, last = b"", START, START
        for time, kind, args in sorted(self.events[m], key=lambda e: e[0]):
            if len(data) > 60000:
                yield self.batch(m, begin, data)
                data, begin, last = b"", START + time, START + time
            data += bytes([kind]) + lebs(START + time - last, *args)
            last = START + time
        yield self.batch(m, begin, data)

    def kernel(self):
        """Each item has its CPU, and introduces the threads that the record did not refer to before."""
        data, last, known = b"", START, {0: 0}

        def thread(tid, shift=0, below=0):
            if tid in known:
                return leb(known[tid] << shift | below)
            known[tid] = len(known) + 1
            return leb(1 << shift | below) + (lebs(tid, 9000, 5) + b"other" if tid >= OTHER else lebs(tid, 0, 0))

        for time, kind, tid, cpu, other, why in sorted(self.items, key=lambda item: item[0]):
            idle = kind == ON and not other
            data += bytes([kind | 32 | (64 if idle else 0)]) + leb(START + time - last) + thread(tid)
            data += b"" if idle else thread(other) if kind == ON else thread(other, 3, why)
            data += leb(cpu)
            last = START + time
        return lebs(START, len(data)) + data

    def private(self):
        """(kind, bytes) of the records"""
        threads = b""
        for tid, cpu in ((101, 0), (102, 1), (103, 2)):
            one = bytes([1]) + lebs(tid, cpu, 0, 0, 0, 5) + b"named"
            threads += leb(len(one)) + one
        yield THREADS, leb(START) + threads
        yield KERNEL, self.kernel()
        yield LOSSES, lebs(GT_EXECUTE, 10, START + GO_LOST[0], GO_LOST[1] - GO_LOST[0],
                           GT_CPU_ON, 10, START + LOST[0], LOST[1] - LOST[0])

    def tables(self):
        parts = list(self.strings)
        for kind, data in self.private():
            cut = [data[i:i + 900] for i in range(0, len(data), 900)]
            parts += [b"\0gotrace-bpf/1 " + lebs(kind, i) + bytes([i + 1 < len(cut)]) + part for i, part in enumerate(cut)]
        data = b""
        for i, text in enumerate(parts):
            data += bytes([STRING]) + lebs(i + 1, len(text)) + text
            if len(data) > 60000 or i + 1 == len(parts):
                yield self.batch(NO_M, START, bytes([STRINGS]) + data)
                data = b""
        yield self.batch(NO_M, START, bytes([STACKS, STACK]) + lebs(1, 1, 4096, 4, 0, 1))
        yield self.batch(NO_M, START, bytes([FREQUENCY]) + leb(10**9))

    def write(self, path):
        with open(path, "wb") as out:
            out.write(b"go 1.22 trace\0\0\0")
            for m in sorted(self.events):
                out.writelines(self.batches(m))
            out.writelines(self.tables())


def goroutine_1(t):
    """Of Go: running, runnable, waiting, in a system call, running; each P and thread has what it runs."""
    for time, kind, args in ((100, GO_STOP, (2, 0)), (300, GO_BLOCK, (1, 0)), (500, SYSCALL_BEGIN, (1, 0)), (600, SYSCALL_END, ())):
        t.event(101, time * MS, kind, *args)
    t.start(101, 1, 200 * MS)
    t.seq[1] += 1
    t.event(102, 400 * MS, GO_UNBLOCK, 1, t.seq[1], 0)
    t.start(101, 1, 420 * MS)
    for start, end, kind in ((0, 100, "running"), (100, 200, "runnable"), (200, 300, "running"), (300, 400, "waiting"), (400, 420, "runnable"),
                             (420, 500, "running"), (500, 600, "syscall"), (600, 1000, "running")):
        t.show("g:1", start * MS, end * MS, kind)
        if kind == "running":
            t.show("p:0", start * MS, end * MS, kind)
        if kind in ("running", "syscall"):
            t.show("t:101", start * MS, end * MS, kind)


def thread_101(t):
    """From 600 ms on its goroutine runs. `then` leaves the CPU when the thread gets it again, or another one, so that
    a switch is missing; 0: the CPU is idle."""
    t.on(1 * MS, 101, 0, 0)
    on = 1
    for start, end, why, kind, then, leaves in (
            (600, 640, PREEMPTED, "cpu-wait", OTHER, OTHER), (660, 700, THROTTLED, "kernel-throttled", 0, 0),
            (720, 760, SLEEPING, "kernel-sleeping", OTHER, THIRD), (800, 840, DISK, "kernel-blocked", THIRD, 0),
            (850, 880, STOPPED, "kernel-stopped", 0, 0)):
        t.off(start * MS, 101, 0, then, why)
        t.on(end * MS, 101, 0, leaves)
        t.show("g:1 kernel", start * MS, end * MS, kind)
        t.show("c:0", on * MS, start * MS, "kernel-running")
        if then != leaves or then:
            t.show("c:0", start * MS, end * MS, "kernel-other" if then == leaves else "kernel-unknown")
        on = end
    t.show("c:0", on * MS, LOST[0], "kernel-running")
    t.off(950 * MS, 101, 0, OTHER, PREEMPTED)
    t.on(980 * MS, 101, 0, OTHER)
    t.show("g:1 kernel", LOST[0], 950 * MS, "kernel-unknown")
    t.show("g:1 kernel", 950 * MS, 980 * MS, "cpu-wait")
    t.show("c:0", LOST[0], 950 * MS, "kernel-unknown")
    t.show("c:0", 950 * MS, 980 * MS, "kernel-other")
    t.show("c:0", 980 * MS, LENGTH, "kernel-running")


def goroutine_2(t):
    """It runs all the time; its thread waits for a CPU for 25 % of a cycle, and sleeps for 40 %."""
    t.show("g:2", 0, LENGTH, "running")
    t.show("p:1", 0, LENGTH, "running")
    t.show("t:102", 0, LENGTH, "running")
    end = 0
    for begin in range(CYCLE, CYCLES_END, CYCLE):
        a, b, c, d = (begin + CYCLE * part // 100 for part in (0, 25, 50, 90))
        t.off(a, 102, 1, OTHER, PREEMPTED)
        t.on(b, 102, 1, OTHER)
        t.off(c, 102, 1, 0, SLEEPING)
        t.on(d, 102, 1, 0)
        t.show("g:2 kernel", a, b, "cpu-wait")
        t.show("g:2 kernel", c, d, "kernel-sleeping")
        if end:
            t.show("c:1", end, a, "kernel-running")
        t.show("c:1", a, b, "kernel-other")
        t.show("c:1", b, c, "kernel-running")
        end = d
    t.show("c:1", end, LOST[0], "kernel-running")
    t.show("c:1", LOST[0], LENGTH, "kernel-unknown")
    t.show("g:2 kernel", LOST[0], LENGTH, "kernel-unknown")


def goroutine_3(t):
    """It runs for 18 % of a cycle, and its CPU is idle for the rest."""
    t.event(103, CYCLE - 1, GO_STOP, 2, 0)
    t.off(CYCLE - 1, 103, 2, 0, SLEEPING)
    t.show("g:3", 0, CYCLE - 1, "running")
    end = CYCLE - 1
    for begin in range(CYCLE, CYCLES_END, CYCLE):
        stop = begin + CYCLE * 18 // 100
        t.start(103, 3, begin)
        t.on(begin, 103, 2, 0)
        t.event(103, stop, GO_STOP, 2, 0)
        t.off(stop, 103, 2, 0, SLEEPING)
        t.show("g:3", end, begin, "runnable")
        t.show("g:3", begin, stop, "running")
        t.show("c:2", begin, stop, "kernel-running")
        end = stop
    t.show("g:3", end, LENGTH, "runnable")
    t.show("c:2", LOST[0], LENGTH, "kernel-unknown")
    for start, stop, kind in t.shown["g:3"]:
        if kind == "running":
            t.show("p:2", start, stop, kind)
            t.show("t:103", start, stop, kind)


def others(t):
    """A task, a GC cycle and a pause, of goroutine 2"""
    for time, kind, args in ((100, TASK_BEGIN, (1, 0, 3, 0)), (399, TASK_END, (1, 0)), (450, GC_BEGIN, (1, 0)), (550, GC_END, (2,)),
                             (560, STW_BEGIN, (2, 0)), (590, STW_END, ()), (659, HEAP_ALLOC, (1,)), (1000, HEAP_ALLOC, (1,))):
        t.event(102, time * MS, kind, *args)
    t.show("task:0", 100 * MS, 399 * MS, "task")
    t.show("gc", 450 * MS, 550 * MS, "gc")
    t.show("stw", 560 * MS, 590 * MS, "stw")


def without_loss(spans):
    """States of a goroutine, which are unknown from the begin of a loss of Go's events until its next event after it"""
    start, end = GO_LOST
    for a, b, kind in spans:
        yield a, min(b, start), kind
        if a < end and b > start:
            yield max(a, start), b, "unknown"
        yield max(a, end) if a >= end else b, b, kind


def write(path):
    t = Trace()
    for i, m in enumerate((101, 102, 103)):
        t.event(m, 0, PROC_STATUS, i, 1)
        t.event(m, 0, GO_STATUS, i + 1, m, 2)
    for part in (goroutine_1, thread_101, goroutine_2, goroutine_3, others):
        part(t)
    t.write(path)
    for lane in ("g:1", "g:2", "g:3"):
        t.shown[lane] = list(without_loss(t.shown[lane]))
    return {lane: [span for span in spans if span[1] > span[0]] for lane, spans in t.shown.items()}
