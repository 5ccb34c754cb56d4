# ---- the worker: from here on the author's code may be running ---------------------------------------------------

REHEARSAL = {'code': 'import math\ndef f(a):\n    return {"a": [a, 1.5]}', 'entrypoint': None, 'arguments': {'a': 'a'}, 'result_bytes': 99}


def work(prctl, job_fd, out_fd, err_fd, result_fd, is_ahead):
    # What is needed after the author's code ran is taken now: it may patch any module.
    write, exit_, getpid, pack = os.write, os._exit, os.getpid, struct.pack
    me = getpid()
    prepare_worker(prctl, job_fd, out_fd, err_fd, result_fd)
    stdout, stderr = sys.stdout, sys.stderr
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(',', ':')).encode
    tools = (encode, sys.exc_info, sys.settrace, sys.setprofile, sys.setrecursionlimit)
    if is_ahead:
        call(REHEARSAL, *tools)  # the pages that a first call touches are our own by the time the job comes
    job = json.loads(read_part(job_fd))
    os.close(job_fd)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (job['data_bytes'],) * 2)  # MemoryError with a line, not a kill
    except (OSError, ValueError):
        pass
    try:
        answer = check(job, encode) if job['mode'] == 'check' else call(job, *tools)
    except BaseException:
        answer = b'{"ok":false,"kind":"exception","type":"RunnerError","message":"the function broke its runner","frames":[]}'
    if getpid() != me:
        exit_(0)  # a child that the function forked and that returned from it
    for stream in (stdout, stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    rest = memoryview(pack('>I', len(answer)) + answer)
    while rest:
        rest = rest[write(result_fd, rest):]
    exit_(0)  # neither threads nor atexit nor __del__ delay the result


def prepare_worker(prctl, job_fd, out_fd, err_fd, result_fd):
    import io
    os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
    os.dup2(out_fd, 1)
    os.dup2(err_fd, 2)
    for fd in range(3, 64):
        if fd not in (job_fd, result_fd):
            try:
                os.close(fd)
            except OSError:
                pass
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if prctl:
        prctl(4, 1, 0, 0, 0)
    try:
        with open('/proc/self/oom_score_adj', 'w') as file:
            file.write('1000')  # the kernel's first choice, before the supervisor
    except OSError:
        pass
    _thread.stack_size(THREAD_STACK)  # the usual 8 MiB each would use up RLIMIT_DATA after some twenty threads
    sys.argv = [FILE]
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.FileIO(0, closefd=False))
    for name, fd in (('stdout', 1), ('stderr', 2)):
        raw = io.FileIO(fd, 'w', closefd=False)
        stream = io.TextIOWrapper(raw, 'utf-8', 'backslashreplace', line_buffering=True)
        setattr(sys, name, stream)
        setattr(sys, '__%s__' % name, stream)


def source_of(job):
    source = job['code']
    if source[:1] == '\ufeff':
        source = source[1:]
    first = source.lstrip('\r\n\f')
    if first[:1] in (' ', '\t') and first.strip():
        import textwrap
        source = textwrap.dedent(source)
    return source


def function_names(tree):
    return [node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def problem(error, severity):
    line, column = error.lineno or 1, error.offset or 1
    return {'severity': severity, 'message': clip(error.msg), 'line': line, 'column': column,
            'end_line': getattr(error, 'end_lineno', None) or line,
            'end_column': getattr(error, 'end_offset', None) or column}


def check(job, encode):
    """Compiles without running."""
    import warnings
    problems, functions = [], []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        try:
            tree = ast.parse(source_of(job), FILE)
            functions = function_names(tree)
            compile(tree, FILE, 'exec', dont_inherit=True)
        except SyntaxError as error:
            problems.append(problem(error, 'error'))
        except (ValueError, RecursionError, MemoryError) as error:
            problems.append({'severity': 'error', 'message': clip(error) or type(error).__name__,
                             'line': 1, 'column': 1, 'end_line': 1, 'end_column': 1})
    for warning in caught:
        line = warning.lineno or 1
        problems.append({'severity': 'warning', 'message': clip(warning.message), 'line': line, 'column': 1,
                         'end_line': line, 'end_column': 1})
    return encode({'ok': True, 'problems': problems[:100], 'functions': functions[:1000]}).encode()


def call(job, encode, exc_info, settrace, setprofile, setrecursionlimit):
    """The value as JSON, or why there is none."""
    def failed(kind, **fields):
        return encode(dict(ok=False, kind=kind, **fields)).encode('utf-8', 'replace')

    try:
        tree = ast.parse(source_of(job), FILE)
        code = compile(tree, FILE, 'exec', dont_inherit=True)
    except SyntaxError as error:
        return failed('syntax', message=clip(error.msg), line=error.lineno, column=error.offset)
    except (ValueError, RecursionError, MemoryError) as error:
        return failed('syntax', message=clip(error) or type(error).__name__, line=None, column=None)
    entry = job['entrypoint'] or (function_names(tree) or [None])[-1]
    if entry is None:
        return failed('no-entrypoint', message='The code defines no top-level function.')
    module = types.ModuleType('__function__')
    module.__dict__.update(__file__=FILE, __builtins__=builtins)
    sys.modules['__function__'] = module
    stage = 'call'
    try:
        exec(code, module.__dict__)
        if entry not in module.__dict__:
            return failed('no-entrypoint', message='The code defines no %s.' % entry)
        function = module.__dict__[entry]
        if not callable(function):
            return failed('no-entrypoint', message='%s is not a function.' % entry)
        value = function(**job['arguments'])
        if hasattr(type(value), '__await__'):
            value = run_async(value)
        stage = 'value'
        settrace(None)
        setprofile(None)
        setrecursionlimit(1000)
        text = encode(plain(value, [], set())).encode()
    except NotJson as error:
        return failed('not-json', reason=str(error))
    except BaseException:
        return failed(**describe(*exc_info(), stage))
    if len(text) > job['result_bytes']:
        return failed('limit', size=len(text))
    return b'{"ok":true,"result":' + text + b'}'


def run_async(awaitable):
    import asyncio

    async def wait():
        return await awaitable
    return asyncio.run(wait())


def describe(kind, error, trace, stage):
    name = clip(type_name(kind), 200)
    if name == 'MemoryError' and kind is not MemoryError:
        name = '__function__.MemoryError'  # the author's own, which says nothing of memory
    if stage == 'value' and issubclass(kind, Exception) and kind is not MemoryError:
        return {'kind': 'not-json', 'reason': 'The value cannot be read: %s: %s.' % (name, clip(error))}
    frames = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == FILE:
            frames.append({'line': trace.tb_lineno, 'function': clip(getattr(code, 'co_qualname', code.co_name), 200)})
        trace = trace.tb_next
    if len(frames) > MAX_FRAMES:
        frames = frames[:MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2:]
    return {'kind': 'exception', 'type': name, 'message': clip(error), 'frames': frames}


def clip(value, size=MAX_MESSAGE):
    """A short text of anything; making it may run the author's code."""
    try:
        text = str(value)
        return storable(text[:size])
    except BaseException:
        return '<unprintable>'
