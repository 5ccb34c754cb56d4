# What the self-test reads inside a container started with all the limits. Runs as a function would.
import ctypes, errno, os, resource, socket, sys


def read(*paths):
    for path in paths:
        try:
            with open(path) as file:
                return file.read().strip()
        except OSError:
            pass
    return None


def attempt(action):
    try:
        action()
        return 'allowed'
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def root_mode():
    # The root belongs to another user, so a write that fails proves nothing.
    modes = [line.split()[5].split(',')[0] for line in open('/proc/self/mountinfo') if line.split()[4] == '/']
    return modes[-1] if modes else None


def writable_mounts():
    found = []
    for line in open('/proc/self/mountinfo'):
        fields = line.split()
        path, options = fields[4], fields[5].split(',')
        # /dev/mqueue is closed by its ulimit of 0 bytes; masked files of /proc are /dev/null, which anybody may write.
        if 'rw' in options and os.path.isdir(path) and os.access(path, os.W_OK) and path != '/dev/mqueue':
            found.append([path, sorted(options)])
    return found


def probe():
    status = dict(line.split(':', 1) for line in read('/proc/self/status').splitlines())
    field = lambda name: (status.get(name) or '').strip()
    tmp = os.statvfs('/tmp')
    return {
        'python': '.'.join(map(str, sys.version_info[:3])),
        'ids': list(os.getresuid() + os.getresgid()),
        'groups': [group for group in os.getgroups() if group != os.getgid()],
        'capabilities': [field(name) for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')],
        'no_new_privileges': field('NoNewPrivs'),
        'seccomp': field('Seccomp'),
        'root_mode': root_mode(),
        'writable': writable_mounts(),
        'tmp_bytes': tmp.f_blocks * tmp.f_frsize,
        'tmp_files': tmp.f_files,
        'interfaces': sorted(os.listdir('/sys/class/net')),
        'vsock': attempt(lambda: socket.socket(40, socket.SOCK_STREAM).close()),
        'inet': attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()),
        'supervisor': attempt(lambda: os.close(os.open('/proc/1/mem', os.O_RDONLY))),
        'memory': read('/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'),
        'swap': read('/sys/fs/cgroup/memory.swap.max'),
        'memory_and_swap': read('/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes'),
        'pids': read('/sys/fs/cgroup/pids.max', '/sys/fs/cgroup/pids/pids.max'),
        'cpu': read('/sys/fs/cgroup/cpu.max'),
        'cpu_quota': read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'),
        'cpu_period': read('/sys/fs/cgroup/cpu/cpu.cfs_period_us'),
        'open_files': resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        'core': resource.getrlimit(resource.RLIMIT_CORE)[1],
        'environment': sorted(os.environ),
        'sockets': [path for path in ('/var/run/docker.sock', '/run/docker.sock') if os.path.exists(path)],
    }
