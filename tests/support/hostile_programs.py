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


def _by_number(number: int, arguments: str) -> str:
    """Return a program that calls the kernel of x86_64 directly, and fails if that is refused."""
    call = f"ctypes.CDLL(None, use_errno=True).syscall({number}, *{arguments})"
    return f"import ctypes\nassert {call} >= 0\n1"


def _to_all(statement: str) -> str:
    """Return a program that does something with every open file."""
    tried = f"    try: {statement}\n    except OSError: pass"
    return f"import os\nfor fd in range(3, 64):\n{tried}"


#: A name that ends in "?" marks a family whose programs may return something harmless.
FAMILIES: dict[str, list[str]] = {
    "loop": [
        "while True: pass\n1",
        "import sys\nsys.stdin.read()\nwhile True: pass\n1",
    ],
    "huge": [
        "10 ** 10 ** 10",
        "import math\nmath.comb(10 ** 9, 10 ** 8)",
    ],
    "memory": [
        "'x' * 10 ** 10",
        "a = [1]\nwhile True:\n    try: a = a + a\n    except MemoryError: pass\n1",
    ],
    "recursion": [
        "def f(): return f()\nf()",
        (
            "import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n"
            "    def __add__(self, o): return self + o\nA() + A()"
        ),
    ],
    "syntax": [
        "(" * _DEEP + ")" * _DEEP,
        "\ud800 = 1\n\ud800",
    ],
    "value?": [
        "float('nan')",
        "b'\\xff'",
    ],
    "output?": [
        "print('x' * 10 ** 6)\n1",
        "import warnings\nwarnings.warn('w' * 10 ** 5)\n1",
    ],
    "endless output": [
        "while True: print('x' * 10 ** 5)\n1",
        "import sys\nsys.stdout = open('big', 'w')\nwhile True: print('x' * 10 ** 5)\n1",
    ],
    "exit": [
        "import sys\nsys.exit()\n1",
        "import sys\ndel sys.modules['builtins']\nimport builtins\nbuiltins.compile = None\n1/0",
    ],
    "late?": [
        "import faulthandler\nfaulthandler._sigsegv()\n1",
        "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.clear(); f = f.f_back\n1",
    ],
    "processes": [
        "import os\nwhile True: os.fork()\n1",
        "import os\nos.spawnv(os.P_NOWAIT, '/bin/sleep', ['sleep', '100'])\n1",
        "import os\nos.execv('/bin/cat', ['cat', '{secret}'])\n1",
        "import os\nos.posix_spawn('/bin/sleep', ['sleep', '100'], {})\n1",
        "import subprocess\nsubprocess.run(['touch', '/tmp/desim-escaped'])\n1",
        "import threading\nthreading.Thread(target=print).start()\n1",
        "import pty\npty.spawn('/bin/sh')\n1",
        "import webbrowser\nassert webbrowser.open('http://127.0.0.1:{port}')\n1",
    ],
    "signals": [
        "import os\nos.kill({pid}, 9)\n1",
        "import os\nos.kill(-1, 15)\n1",
    ],
    "rights": [
        "import os\nos.setuid(0)\n1",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n1",
        "import os\nos.setns(0)\n1",
        "import socket\nsocket.sethostname('desim-escaped')\n1",
    ],
    "foreign code": [
        "import ctypes\nctypes.string_at(0)\n1",
        "().__class__.__base__.__subclasses__()[99999]",
        _by_number(57, "()"),  # fork
        _by_number(59, "(b'/bin/sh', 0, 0)"),  # execve
        _by_number(62, "({pid}, 15)"),  # kill
        _by_number(101, "(16, {pid}, 0, 0)"),  # ptrace
        _by_number(310, "({pid}, 0, 0, 0, 0, 0)"),  # process_vm_readv
        _by_number(319, "(b'x', 0)"),  # memfd_create
        _by_number(425, "(1, bytes(120))"),  # io_uring_setup
        _by_number(41, "(2, 1, 0)"),  # socket
        _by_number(0x40000000 + 57, "()"),  # fork of the x32 interface
    ],
    "foreign code?": [
        "import os\nos.system('cat {secret} > /tmp/desim-escaped')",
        (
            "(lambda f: f(f))(lambda f: f.__globals__['__builtins__']['__import__']('os')"
            ".system('touch /tmp/desim-escaped'))\n1"
        ),
        "from desim.sandbox.child.libc import call\ncall('landlock_restrict_self', 3, 0)\n1",
    ],
    "files": [
        "open('/etc/passwd').read()",
        "import os\nos.read(os.open('{secret}', os.O_RDONLY), 99).decode()",
        "import os\nos.symlink('{secret}', 'x')\nopen('x').read()",
        "open('/proc/{pid}/root{secret}').read()",
        "open('{home}/desim-escaped', 'w').write('x')",
        "import os\nos.truncate('{secret}', 0)\n1",
        "import os\nos.rename('{secret}', '{secret}.old')\n1",
        "import os\nos.remove('{secret}')\n1",
        "import os\nos.chmod('{secret}', 0)\n1",
        "import os\nos.mkdir('/tmp/desim-escaped')\n1",
        "open('/dev/shm/desim-escaped', 'w').write('x')",
        "import sys\nsys.addaudithook(lambda *a: None)\nopen('{secret}').read()",
    ],
    "own folder?": [
        "open('desim-escaped', 'w').write('x' * 1000)",
        "try: open('big', 'wb').write(b'x' * 10 ** 8)\nexcept OSError: pass\n1",
        "import os\nstr(dict(os.environ))",
    ],
    "network": [
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 1).send(b'x')\n1",
        "import socket\nsocket.getaddrinfo('localhost', {port})\n1",
        "import socket\nsocket.socket(socket.AF_UNIX).bind('/tmp/desim-escaped')\n1",
        "from multiprocessing.connection import Client\nClient(('127.0.0.1', {port}))\n1",
    ],
    "pipe": [
        "import os\nfor fd in range(256):\n    try: os.close(fd)\n    except OSError: pass\n1",
        _to_all("os.set_blocking(fd, False)") + "\n'x' * 10 ** 6",
    ],
    "forged?": [
        _to_all("os.write(fd, b'{\"value\": 7.0}')") + "\nos._exit(0)",
    ],
    "caught": [
        _tries("open('{secret}').read()\nopen('{home}/desim-escaped', 'w')"),
        _tries("sys.setrecursionlimit(10 ** 8)\ndef f(): f()\nf()"),
    ],
}
