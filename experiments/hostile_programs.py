"""Programs that try to hang, to exhaust, to look, to change, or to break out; by family.

`{port}` is the port of a listener, `{pid}` the process of the test, `{secret}` a file and `{home}`
a folder of its user. A program that gets through returns what it read, or leaves what it wrote.
"""

from attrs import frozen

#: A text that must never come back, and the start of the name of a file that must never exist.
SECRET, ESCAPED = "sk-secret-0123456789", "desim-escaped"


@frozen
class HostileProgram:
    """One program.

    Attributes:
        name: Family and number.
        source: The text, with the marks still in it.
        fails: Whether it must fail; otherwise any value without the secret is harmless.
    """

    name: str
    source: str
    fails: bool


def hostile_programs() -> list[HostileProgram]:
    """Return all programs."""
    return [
        HostileProgram(f"{family}-{index}", source, fails=not family.endswith("?"))
        for family, sources in FAMILIES.items()
        for index, source in enumerate(sources)
    ]


_DEEP = 100_000


def _tries(source: str) -> str:
    """Return a program that goes on after an exception, and then fails."""
    body = "\n".join(f"    {line}" for line in source.splitlines())
    return f"import os, sys\ntry:\n{body}\nexcept BaseException as e:\n    pass\n1 / 0"


def _to_all(statement: str) -> str:
    """Return a program that does something with every open file."""
    tried = f"    try: {statement}\n    except OSError: pass"
    return f"import os\nfor fd in range(3, 64):\n{tried}"


#: A name that ends in "?" marks a family whose programs may return something harmless.
FAMILIES: dict[str, list[str]] = {
    "loop": [
        "while True: pass\n1",
        "import itertools\nfor i in itertools.count(): pass\n1",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n1",
        "import time\ntime.sleep(10 ** 6)\n1",
        "def f(): yield from f2()\ndef f2():\n    while True: yield\nfor _ in f(): pass\n1",
        "import re\nre.match(r'(a+)+$', 'a' * 64 + 'b')\n1",
        "sum(range(10 ** 12))",
        "[x for x in iter(int, 1)]",
        "class A:\n    def __float__(self):\n        while True: pass\nA()",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E\n1",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass\n1",
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile 1: pass\n1",
        "import select\nselect.select([], [], [])\n1",
        "input()\n1",
        "import sys\nsys.stdin.read()\nwhile True: pass\n1",
    ],
    "huge": [
        "10 ** 10 ** 10",
        "len(str(10 ** 10 ** 8))",
        "9 ** 9 ** 9 ** 9",
        "1 << 10 ** 12",
        "import math\nmath.factorial(10 ** 9)",
        "int('9' * 10 ** 7)",
        "import sys\nsys.set_int_max_str_digits(0)\nint('9' * 10 ** 8)",
        "import sys\nsys.set_int_max_str_digits(0)\nstr(7 ** 10 ** 8)",
        "import decimal\ndecimal.getcontext().prec = 10 ** 9\ndecimal.Decimal(1) / 3",
        "from fractions import Fraction\nx = Fraction(1, 3)\nwhile 1: x = x * x + x\n1",
        "pow(3, 10 ** 9)",
        "import math\nmath.comb(10 ** 9, 10 ** 8)",
    ],
    "memory": [
        "'x' * 10 ** 10",
        "[0] * 10 ** 10",
        "bytearray(10 ** 11)",
        "a = []\nwhile True: a.append('y' * 10 ** 6)\n1",
        "a = [0]\nwhile True: a *= 2\n1",
        "d = {}\ni = 0\nwhile True:\n    d[i] = [i]; i += 1\n1",
        "'%1000000000d' % 1 * 10",
        "f'{1:>10000000000}'",
        "import array\narray.array('d', [0]) * 10 ** 10",
        "import mmap\nx = [mmap.mmap(-1, 10 ** 9) for _ in range(100)]\n1",
        "x = list(range(10 ** 9))\n1",
        "s = set()\nfor i in range(10 ** 10): s.add(str(i) * 50)\n1",
        "a = [1]\nwhile True:\n    try: a = a + a\n    except MemoryError: pass\n1",
    ],
    "recursion": [
        "def f(): return f()\nf()",
        "import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()",
        "import sys\nsys.setrecursionlimit(10 ** 9)\nf = lambda: [f() for _ in [0]]\nf()",
        (
            "import sys\nsys.setrecursionlimit(10 ** 9)\n"
            "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().y"
        ),
        "x = []\nfor _ in range(10 ** 6): x = [x]\nrepr(x)",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        (
            "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n"
            "    def __add__(self, o): return self + o\nA() + A()"
        ),
    ],
    "syntax": [
        "(" * _DEEP + ")" * _DEEP,
        "[" * _DEEP,
        "-" * _DEEP + "1",
        "not " * _DEEP + "1",
        "lambda: " * _DEEP + "1",
        "a" + ".b" * _DEEP,
        "x = " + "1 + " * 49_000 + "1\nx.y",
        "if 1:\n" + "".join(" " * n + "if 1:\n" for n in range(1, 300)),
        "f'{" * 200 + "1" + "}' " * 200,
        "def f(" + ", ".join(f"a{n}" for n in range(300)) + ", a0): pass\n1",
        "# coding: no-such-encoding\n'\\N{NO SUCH}'",
        "# coding: utf-7\n+AG8-s.x",
        "x = '\\ud800'\nx.encode()",
        "\ud800 = 1\n\ud800",
        "'\0'",
        "1\0",
        "\ufeff\ufeff1",
        "x = 1\n\ty = 2\n    z",
        "",
        "   \n\n# nothing",
        "pass",
        "return",
        "yield 1",
        "await x",
        "nonlocal x\n1",
        "from __future__ import braces\n1",
        "import * from os\n1",
        "x: int",
        "1 if",
        "print 1",
    ],
    "value?": [
        "float('nan')",
        "float('-inf')",
        "1e999",
        "'\\ud800'",
        "'\\0' * 100",
        "'\\x1b[2J\\x07'",
        "type('x' * 10 ** 5, (), {})()",
        "class M(type):\n    __name__ = property(lambda s: 1 / 0)\nclass A(metaclass=M): pass\nA()",
        "class A(float):\n    def __repr__(self): return '{\"value\": 7}'\nA(3)",
        "class A(int):\n    def __float__(self): return 1 / 0\nA(3)",
        "class A(str):\n    def __float__(self): return 5.0\nA('x')",
        "{'error': 'x', 'calls': []}",
        "'{\"value\": 1}'",
        "x = []\nx.append(x)\nx",
        "10 ** 400",
        "-0.0",
        "1j",
        "object()",
        "Ellipsis",
        "NotImplemented",
        "b'\\xff'",
    ],
    "output?": [
        "print('x' * 10 ** 6)\n1",
        "import sys\nsys.stdout.write('x' * 10 ** 7)\nsys.stderr.write('y' * 10 ** 6)\n1",
        "import os\nfor fd in (1, 2): os.write(fd, b'z' * 10 ** 6)\n1",
        "import warnings\nwarnings.warn('w' * 10 ** 5)\n1",
    ],
    "endless output": [
        "while True: print('x' * 10 ** 5)\n1",
        "import os\nwhile True: os.write(1, b'x' * 10 ** 5)\n1",
        "import os\nwhile True: os.write(3, b'x' * 10 ** 5)\n1",
        "'x' * 10 ** 7",
        "class A:\n    def __repr__(self): return 'r' * 10 ** 9\nrepr(A())",
        "raise ValueError('e' * 10 ** 8)\n1",
        "import sys\nsys.stdout = open('big', 'w')\nwhile True: print('x' * 10 ** 5)\n1",
    ],
    "exit": [
        "import sys\nsys.exit()\n1",
        "import sys\nsys.exit('message')\n1",
        "exit()\n1",
        "quit()\n1",
        "raise SystemExit(0)\n1",
        "raise KeyboardInterrupt\n1",
        "raise GeneratorExit\n1",
        "import os\nos._exit(0)\n1",
        "import os\nos._exit(255)\n1",
        "import os\nos.abort()\n1",
        "import faulthandler\nfaulthandler._stack_overflow()\n1",
        "import signal\nsignal.raise_signal(signal.SIGKILL)\nwhile 1: pass\n1",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.1)\nwhile 1: pass\n1",
        "raise BaseException\n1",
        "class E(BaseException):\n    def __str__(self): raise SystemExit\nraise E\n1",
        "import sys\ndel sys.modules['builtins']\nimport builtins\nbuiltins.compile = None\n1/0",
    ],
    "late?": [
        # The first process of a namespace ignores what would kill others.
        "import faulthandler\nfaulthandler._sigsegv()\n1",
        "import site\nsite.main()\nimport sys\nlen(sys.path)",
        "import atexit\natexit.register(lambda: open('/tmp/desim-escaped', 'w'))\n1",
        "class A:\n    def __del__(self):\n        while True: pass\na = A()\n1",
        "import weakref, os\nclass A: pass\na = A()\nweakref.finalize(a, os.abort)\n1",
        "import sys\nsys.settrace(lambda *a: 1 / 0)\n1",
        "import sys\nsys.setprofile(lambda *a: None)\n1",
        "import gc\ngc.callbacks.append(lambda *a: 1 / 0)\ngc.collect()\n1",
        "import sys\nsys.excepthook = sys.unraisablehook = None\n1",
        "import builtins\nbuiltins.float = builtins.isinstance = None\n1",
        "import builtins\nbuiltins.isinstance = lambda *a: True\n1",
        "import sys\nsys.modules.clear()\n1",
        "import os\nos.write = os._exit = None\n1",
        "import sys, gc\nfor f in sys._current_frames().values(): f.f_locals.clear()\n1",
        "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.clear(); f = f.f_back\n1",
    ],
    "processes": [
        "import os\nwhile True: os.fork()\n1",
        "import os\nos.fork()\nos.setsid()\n1",
        "import os\nos.system('touch /tmp/desim-escaped')\n1",
        "import os\nos.popen('touch {home}/desim-escaped').read()\n1",
        "import os\nos.execv('/bin/sh', ['sh', '-c', 'touch /tmp/desim-escaped'])\n1",
        "import os\nos.posix_spawn('/bin/sh', ['sh'], {})\n1",
        "import os\nos.spawnv(os.P_NOWAIT, '/bin/sleep', ['sleep', '100'])\n1",
        "import os\nos.forkpty()\n1",
        "import subprocess\nsubprocess.Popen(['sleep', '1000'])\n1",
        "import subprocess\nsubprocess.run('sleep 100 &', shell=True)\n1",
        "import multiprocessing as m\np = m.Process(target=print)\np.start()\n1",
        "from concurrent.futures import ProcessPoolExecutor as P\nP(2).submit(print).result()\n1",
        "import pty\npty.spawn('/bin/sh')\n1",
        "import threading\nwhile True: threading.Thread(target=input).start()\n1",
        "import _thread\n_thread.start_new_thread(print, ())\n1",
        "from concurrent.futures import ThreadPoolExecutor as P\nP(2).submit(print).result()\n1",
        "import _posixsubprocess\n_posixsubprocess.fork_exec\n1",
        "import asyncio\nasyncio.run(asyncio.create_subprocess_exec('sleep', '9'))\n1",
        "import webbrowser\nassert webbrowser.open('http://127.0.0.1:{port}')\n1",
    ],
    "signals": [
        "import os\nos.kill({pid}, 9)\n1",
        "import os\nos.kill(os.getppid(), 9)\n1",
        "import os\nos.killpg(0, 9)\n1",
        "import os\nos.kill(-1, 9)\n1",
        "import os\nos.killpg(os.getpgid({pid}), 15)\n1",
        "import signal\nsignal.pidfd_send_signal(__import__('os').pidfd_open({pid}), 9)\n1",
        "import fcntl\nfcntl.fcntl(3, fcntl.F_SETOWN, {pid})\n1",
        "import os\nos.setpriority(os.PRIO_PROCESS, {pid}, 19)\n1",
        "import resource\nresource.prlimit({pid}, resource.RLIMIT_CPU, (1, 1))\n1",
        "import os\nos.sched_setaffinity({pid}, [0])\n1",
        "import os\nos.ptrace\n1",
    ],
    "rights": [
        "import os\nos.setuid(0)\n1",
        "import os\nos.setresuid(0, 0, 0)\n1",
        "import os\nos.setgroups([0])\n1",
        "import os\nos.setsid()\n1",
        "import os\nos.setpgid(0, 0)\n1",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n1",
        "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (99, 99))\n1",
        "import os\nos.chroot('/')\n1",
        "import os\nos.nice(-5)\n1",
        "import os\nos.unshare(0x10000000)\n1",
        "import os\nos.setns(0)\n1",
        "import os\nos.mknod('/tmp/desim-escaped', 0o20666, 259)\n1",
        "import os\nos.memfd_create('x')\n1",
        "import os\nos.chmod('.', 0o4777)\n1",
        "import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)\n1",
        "import socket\nsocket.sethostname('desim-escaped')\n1",
    ],
    "foreign code": [
        "import ctypes\nctypes.string_at(0)\n1",
        "import ctypes\nctypes.CDLL(None).system(b'touch /tmp/desim-escaped')\n1",
        "import _ctypes\n_ctypes.dlopen('libc.so.6', 0)\n1",
        "import sys\nsys.modules['ctypes'].CDLL(None)\n1",
        "import sys\nsys.modules['desim'].sandbox\n1",
        "import desim\n1",
        "import desim.sandbox.child.libc\n1",
        "import models.beer_game\n1",
        "import numpy\n1",
        "import _testcapi\n1",
        "import readline\nreadline.write_history_file('{home}/desim-escaped')\n1",
        "().__class__.__base__.__subclasses__()[99999]",
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0]('ls')",
        (
            "[c for c in object.__subclasses__() if c.__name__ == '_wrap_close'][0]"
            ".__init__.__globals__['system']('touch /tmp/desim-escaped')\n1/0"
        ),
        (
            "import gc\n"
            "[o for o in gc.get_objects() if type(o).__name__ == 'CDLL'][0].system(b'x')\n"
            "[0][1]"
        ),
        (
            "import types\ncode = (lambda: 0).__code__.replace(co_code=b'\\xff' * 20)\n"
            "f = types.FunctionType(code, "
            "{})\nf()\n1/0"
        ),
        "import pickle\npickle.loads(b\"cos\\nsystem\\n(S'touch /tmp/desim-escaped'\\ntR.\")\n1",
        (
            "(lambda f: f(f))(lambda f: f.__globals__['__builtins__']['__import__']('os')"
            ".system('touch /tmp/desim-escaped'))\n1"
        ),
    ],
    "files": [
        "open('/etc/passwd').read()",
        "open('/etc/shadow').read()",
        "open('{secret}').read()",
        "import os\nos.read(os.open('{secret}', os.O_RDONLY), 99).decode()",
        "import pathlib\npathlib.Path('{secret}').read_text()",
        "import pathlib\npathlib.Path.home().joinpath('.ssh/id_rsa').read_text()",
        "import io\nio.FileIO('{secret}').read().decode()",
        "import mmap\nmmap.mmap(open('{secret}').fileno(), 0, prot=1).read().decode()",
        "import linecache\nlinecache.getlines('{secret}')[0]",
        "import fileinput\nnext(fileinput.input('{secret}'))",
        "import shutil\nshutil.copy('{secret}', 'x')\nopen('x').read()",
        "import os\nos.link('{secret}', 'x')\nopen('x').read()",
        "import os\nos.symlink('{secret}', 'x')\nopen('x').read()",
        "import sqlite3\nsqlite3.connect('{home}/desim-escaped').execute('create table x(y)')\n1",
        "import dbm.dumb\ndbm.dumb.open('{home}/desim-escaped')\n1",
        "import tempfile\ntempfile.mkstemp(dir='{home}', prefix='desim-escaped')\n1",
        "open('{home}/desim-escaped', 'w').write('x')",
        "open('../../../../../../..{home}/desim-escaped', 'w').write('x')",
        "open('/proc/{pid}/environ').read()",
        "open('/proc/{pid}/mem', 'rb').read(10)",
        "open('/proc/self/mem', 'r+b').read(10)",
        "open('/proc/self/environ').read()[0]",
        "open('/proc/1/environ').read()",
        "open('/proc/self/root/etc/passwd').read()",
        "open('/proc/{pid}/root{secret}').read()",
        "open('/proc/{pid}/fd/0').read()",
        "open('/sys/kernel/uevent_helper').read()",
        "open('/dev/mem', 'rb').read(1)",
        "open('/dev/tty', 'w').write('x')",
        "open('/dev/shm/desim-escaped', 'w').write('x')",
        "import os\nos.remove('{secret}')\n1",
        "import os\nos.rename('{secret}', '{home}/desim-escaped')\n1",
        "import os\nos.truncate('{secret}', 0)\n1",
        "import shutil\nshutil.rmtree('/')\n1",
        "import os\nos.mkdir('{home}/desim-escaped')\n1",
        "import os\nos.mkfifo('{home}/desim-escaped')\n1",
        "import os\nos.chdir('{home}')\nopen('desim-escaped', 'w')\n1",
        "import os\nopen(os.open('{home}', os.O_RDONLY))\n1",
        "import logging\nlogging.FileHandler('{home}/desim-escaped')\n1",
        "import sys\nsys.addaudithook(lambda *a: None)\nopen('{secret}').read()",
        "import sys, os\nos.environ['DESIM_TEST_KEY']",
        "import zipimport\nzipimport.zipimporter('{secret}')\n1",
        "import runpy\nrunpy.run_path('{secret}')\n1",
        "import ssl\nssl.create_default_context().load_verify_locations('{secret}')\n1",
    ],
    "own folder?": [
        "open('desim-escaped', 'w').write('x' * 1000)",
        "open('/tmp/desim-escaped', 'w').write('x' * 1000)",
        "for n in range(10 ** 4):\n    try: open(f'f{n}', 'w')\n    except OSError: break\n1",
        (
            "import os\nfor n in range(3000):\n    try:\n        os.mkdir('d'); os.chdir('d')\n"
            "    except OSError: break\n1"
        ),
        "try: open('big', 'wb').write(b'x' * 10 ** 8)\nexcept OSError: pass\n1",
        "import os, contextlib\nwith contextlib.suppress(OSError):\n    os.symlink('/', 'root')\n1",
        "import os\n[fd for fd in range(256) if not __import__('contextlib').suppress(OSError)]\n1",
        "import os\nos.environ['HOME'] = 'x'\nos.environ['PATH'] = 'y'\n1",
        "import os\nstr(dict(os.environ))",
        "import os\nos.getcwd()",
        "import sys\nstr(sys.path) + str(sys.argv)",
        "import os\nstr(os.listdir('/'))",
        "import os\nstr(os.uname())",
    ],
    "network": [
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 1).send(b'x')\n1",
        "import socket\ns = socket.socket()\ns.connect(('127.0.0.1', {port}))\n1",
        "import socket\nsocket.socket(socket.AF_INET6).connect(('::1', {port}))\n1",
        "import _socket\n_socket.socket().connect(('127.0.0.1', {port}))\n1",
        "import socket\nsocket.socket(socket.AF_UNIX).bind('/tmp/desim-escaped')\n1",
        "import socket\ns = socket.socket()\ns.bind(('', 0))\ns.listen()\ns.accept()\n1",
        "import socket\nsocket.getaddrinfo('localhost', {port})\n1",
        "import socket\nsocket.socketpair()\n1",
        "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n1",
        "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}').read()\n1",
        "import http.client as h\nh.HTTPConnection('127.0.0.1', {port}).request('GET', '/')\n1",
        "import ftplib\nftplib.FTP().connect('127.0.0.1', {port})\n1",
        "import smtplib\nsmtplib.SMTP('127.0.0.1', {port})\n1",
        "import asyncio\nasyncio.run(asyncio.open_connection('127.0.0.1', {port}))\n1",
        "import xmlrpc.client as x\nx.ServerProxy('http://127.0.0.1:{port}').f()\n1",
        "import logging.handlers as h\nh.SocketHandler('127.0.0.1', {port}).createSocket()\n1/0",
        "import syslog\nsyslog.syslog('desim-escaped')\n1/0",
        "from multiprocessing.connection import Client\nClient(('127.0.0.1', {port}))\n1",
    ],
    "pipe": [
        "import os\nfor fd in range(256):\n    try: os.close(fd)\n    except OSError: pass\n1",
        _to_all("os.write(fd, b'garbage')") + "\n1",
        *(
            _to_all(f"os.write(fd, {written})") + "\nos._exit(0)"
            for written in (
                "b'[' * 10 ** 4",
                "b'9' * 10 ** 4",
                "b'\\xff\\x00\\x80'",
                'b\'{"value": {"a": 1}, "x": 1}\'',
                'b\'{"number": 1e400, "calls": 5}\'',
                'b\'{"value": 1}{"value": 2}\'',
                'b\'{"number": "1"}\'',
            )
        ),
        _to_all("os.write(fd, b't' * 99)") + "\nos.dup2(1, 3)\n1/0",
        _to_all("os.set_blocking(fd, False)") + "\n'x' * 10 ** 6",
    ],
    # A program may say that its value is 7 by any means: it could as well have ended with 7.
    "forged?": [_to_all("os.write(fd, b'{\"value\": 7.0}')") + "\nos._exit(0)"],
    "caught": [
        _tries("open('{secret}').read()\nopen('{home}/desim-escaped', 'w')"),
        _tries("os.system('touch {home}/desim-escaped')"),
        _tries("while True: os.fork()"),
        _tries("os.kill({pid}, 9)"),
        _tries("import socket\nsocket.create_connection(('127.0.0.1', {port}))"),
        _tries("os.write(1, b'x')\nos.write(2, b'x')\nos.closerange(0, 256)"),
        _tries("sys.setrecursionlimit(10 ** 8)\ndef f(): f()\nf()"),
    ],
}
