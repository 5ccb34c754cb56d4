# Runs one job in a container of its own. It arrives over stdin, so any image with a plain python3 (3.8+) will do.
#
# Two processes: the supervisor (pid 1, our code only) and one worker, forked BEFORE the job and the nonce are read,
# in which the author's code runs. The worker hands a result over a pipe; only the supervisor speaks to the server.
#
#   in:  u32 length, header as JSON; u32 length, job as JSON. Then stdin stays open: its end means the server is
#        gone or gave up, and everything here ends.
#   out: "KBR1" when ready, then once "KBF1", the nonce (32 characters), and four parts of u32 length each:
#        status as JSON, what the worker sent, stdout, stderr.
#
# Integers are big endian. This code runs with its own copy of the builtins, so that patching them does not reach it.
import ast, builtins, json, os, resource, select, signal, struct, sys, time, types, _thread

FILE = '<function>'
MAX_DEPTH = 100
MAX_FRAMES = 20
MAX_MESSAGE = 4000
MAX_SAFE_INTEGER = 2 ** 53 - 1
THREAD_STACK = 1 << 20
TEXT_TYPES = {('decimal', 'Decimal'), ('uuid', 'UUID'), ('fractions', 'Fraction'), ('datetime', 'timedelta')}
DATE_TYPES = {('datetime', 'datetime'), ('datetime', 'date'), ('datetime', 'time')}
type_name = type.__dict__['__name__'].__get__  # a metaclass may redefine the attribute


def packed(data):
    return struct.pack('>I', len(data)) + bytes(data)


def read_exactly(fd, size):
    data = bytearray()
    while len(data) < size:
        part = os.read(fd, min(1 << 16, size - len(data)))
        if not part:
            os._exit(0)
        data += part
    return bytes(data)


def read_part(fd):
    return read_exactly(fd, struct.unpack('>I', read_exactly(fd, 4))[0])


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


# ---- the supervisor ----------------------------------------------------------------------------------------------

def load_prctl():
    try:
        import ctypes
        return ctypes.CDLL(None).prctl
    except Exception:
        return None  # the server's self-test refuses an image where this shows


class OomCounter:
    """How many processes the kernel killed in this container for want of memory; cgroup v2 or v1."""
    PLACES = (('/sys/fs/cgroup/memory.events', b'oom_kill '), ('/sys/fs/cgroup/memory/memory.oom_control', b'oom_kill '))

    def __init__(self):
        self.fd = None
        for path, key in self.PLACES:
            try:
                self.fd, self.key = os.open(path, os.O_RDONLY), key
                break
            except OSError:
                pass
        self.before = self.total()

    def total(self):
        try:
            text = os.pread(self.fd, 4096, 0)
            return int(text[text.index(self.key) + len(self.key):].split()[0])
        except Exception:
            return 0

    def kills(self):
        return self.total() - self.before


class Capture:
    """What the worker writes: read as it comes, counted, and kept up to a limit."""

    def __init__(self, poll, limits):
        self.poll, self.limits = poll, limits
        self.kept = {fd: bytearray() for fd in limits}
        self.seen = dict.fromkeys(limits, 0)
        self.open = set(limits)
        for fd in limits:
            os.set_blocking(fd, False)
            poll.register(fd, select.POLLIN)

    def pull(self, fd):
        """One read. False when there is nothing more now."""
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return False
        except OSError:
            data = b''
        if not data:
            self.open.discard(fd)
            self.poll.unregister(fd)
            return False
        self.seen[fd] += len(data)
        budget = self.limits[fd]
        room = budget.room()
        if room > 0:
            self.kept[fd] += data[:room]
            budget.used += min(room, len(data))
        return True

    def drain(self):
        for fd in list(self.open):
            for _ in range(64):
                if not self.pull(fd):
                    break


class Budget:
    def __init__(self):
        self.size = self.used = 0

    def room(self):
        return self.size - self.used


def supervise():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    prctl = load_prctl()
    if prctl:
        prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE 0: our memory, descriptors and environment are closed to the worker
    job_read, job_write = os.pipe()
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    result_read, result_write = os.pipe()
    is_ahead = sys.argv[1:] == ['ahead']
    if is_ahead:
        # Started before it is needed: load now what functions often use, so that the worker has it.
        import asyncio, collections, datetime, decimal, gc, inspect, math, random, re, textwrap
        gc.freeze()  # keeps the collector off the pages that both processes share
    worker = os.fork()
    if worker == 0:
        try:
            work(prctl, job_read, out_write, err_write, result_write, is_ahead)
        finally:
            os._exit(70)
    for fd in (job_read, out_write, err_write, result_write):
        os.close(fd)
    # Everything that does not need the job is done before it comes.
    poll, oom = select.poll(), OomCounter()
    wake = wake_on_child(poll)
    log_budget, result_budget = Budget(), Budget()
    capture = Capture(poll, {out_read: log_budget, err_read: log_budget, result_read: result_budget})
    poll.register(0, select.POLLIN | select.POLLHUP)
    os.set_blocking(job_write, False)
    poll.register(job_write, select.POLLOUT)
    write_all(1, b'KBR1')
    header = json.loads(read_part(0))
    log_budget.size, result_budget.size = header['log_bytes'], header['result_bytes'] + 4
    job = read_part(0)
    watch(header, job, worker, job_write, (out_read, err_read, result_read), (poll, wake, capture, oom))


def watch(header, job, worker, job_write, pipes, instruments):
    """Feeds the worker, collects what it writes, ends it in time, and writes the one frame."""
    out, err, result = pipes
    poll, wake, capture, oom = instruments
    began = time.monotonic()
    deadline = began + header['timeout_ms'] / 1000
    rest = memoryview(packed(job))
    status, code, killer = None, None, None
    while status is None:
        left = deadline - time.monotonic()
        if left <= 0:
            status = 'timeout'
            break
        for fd, _ in poll.poll(min(left, 5) * 1000):
            if fd == 0:
                end_with_server()
            elif fd == job_write:
                rest = feed(job_write, rest, poll)
            elif fd == wake:
                os.read(wake, 4096)
            elif fd in capture.open:
                capture.pull(fd)
        if is_complete(capture, result, header):
            status = 'done'
        elif reaped := reap(worker):
            status, code, killer = 'died', *reaped
    ended = time.monotonic()
    try:
        os.kill(-1, signal.SIGKILL)  # everybody but us
    except OSError:
        pass
    capture.drain()
    status, size, blob = conclude(status, killer, header, result, capture, oom)
    facts = {'status': status, 'exit': code, 'signal': killer, 'ms': round((ended - began) * 1000, 1), 'size': size,
             'printed': capture.seen[out] + capture.seen[err]}
    frame = b'KBF1' + header['nonce'].encode()
    for part in (json.dumps(facts).encode(), blob, capture.kept[out], capture.kept[err]):
        frame += packed(part)
    try:
        write_all(1, frame)
    except OSError:
        pass
    os._exit(0)  # with pid 1 the kernel ends whatever is left


def conclude(status, killer, header, result, capture, oom):
    """How it ended, the size of what the worker wanted to send, and that where it is complete."""
    blob = b''
    size = sent_size(capture, result)
    if size is not None and size > header['result_bytes']:
        status = 'result-too-large'
    elif size is not None and len(capture.kept[result]) >= 4 + size:
        blob, status = capture.kept[result][4:4 + size], 'done' if status == 'died' else status
    if status == 'died' and killer == signal.SIGKILL and oom.kills() > 0:
        status = 'memory'
    return status, size, blob


def wake_on_child(poll):
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    poll.register(wake_read, select.POLLIN)
    return wake_read


def end_with_server():
    try:
        gone = not os.read(0, 4096)
    except OSError:
        gone = True
    if gone:
        os._exit(0)


def feed(fd, rest, poll):
    try:
        rest = rest[os.write(fd, rest):]
    except BlockingIOError:
        return rest
    except OSError:
        rest = rest[:0]
    if not rest:
        poll.unregister(fd)
        os.close(fd)
    return rest


def sent_size(capture, result):
    kept = capture.kept[result]
    return struct.unpack('>I', kept[:4])[0] if len(kept) >= 4 else None


def is_complete(capture, result, header):
    size = sent_size(capture, result)
    return size is not None and (size > header['result_bytes'] or len(capture.kept[result]) >= 4 + size)


def reap(worker):
    """Collects ended processes; the exit code and signal of the worker once it ended."""
    ended = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid == worker and os.WIFEXITED(status):
            ended = (os.WEXITSTATUS(status), None)
        elif pid == worker and os.WIFSIGNALED(status):
            ended = (None, os.WTERMSIG(status))
