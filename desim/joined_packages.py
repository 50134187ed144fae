"""The packages `models`, `ledgers` and `policies`: desim's folders first, then those of the user.

A module or a regular package of the user's with such a name would hide desim's own, so a finder in
front of Python's joins all folders of these names. The user's `models.py` or `models/__init__.py`
is executed when one of its names is used, and not before: it may be a stranger's file.

The finder also finds a user's `queue.py`, which Python's own hides, as `desim_user_queue`.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from os.path import abspath, dirname, join
from types import ModuleType
from typing import Any

#: The packages that are joined; above the folders that users may add to, none has an `__init__.py`.
_JOINED = ("models", "ledgers", "policies", "policies.heuristics")

#: Begins the name of a user's module that one of Python or of an installed package hides.
HIDDEN = "desim_user_"

# Functions of os.path, because pathlib is not loaded yet when Python starts.
_HOME = dirname(dirname(abspath(__file__)))  # noqa: PTH100, PTH120


def own_folder(package: str) -> str:
    """Return the folder of a joined package that was installed with desim."""
    return join(_HOME, *package.split("."))  # noqa: PTH118


class _JoinedPath:
    """The `__path__` of a joined package, which follows changes of `sys.path`.

    *also* are the folders of a package that was loaded from elsewhere, as pytest loads one.
    """

    def __init__(self, package: str, also: Iterable[str] = ()) -> None:
        self._package, self._also = package, (*also,)

    def __iter__(self) -> Iterator[str]:
        theirs = [each.submodule_search_locations or () for each in _specs(self._package)]
        folders = [own_folder(self._package), *(one for some in theirs for one in some)]
        return iter(dict.fromkeys([*folders, *self._also]))


class JoinedPackage(ModuleType):
    """A joined package; its attributes beyond submodules are those of the user's own file."""

    def __getattr__(self, name: str) -> Any:
        # Libraries look for attributes such as `__file__` in every module that is loaded.
        may_be_theirs = not name.startswith("__") or name == "__all__"
        specs = _specs(self.__name__) if may_be_theirs and "__file__" not in vars(self) else ()
        spec = next((each for each in specs if each.loader), None)
        if spec is None or spec.loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__file__ = spec.origin
        try:
            spec.loader.exec_module(self)
        except BaseException:
            del self.__file__  # the next use executes it again, as an import does
            raise
        return getattr(self, name)


class _Finder:
    """Finds and loads the joined packages; all other modules are left to Python's finders."""

    @classmethod
    def find_spec(cls, name: str, *_path_and_target: object) -> ModuleSpec | None:
        if name.startswith(HIDDEN):
            return _hidden_spec(name)
        if name not in _JOINED:
            return None
        spec = ModuleSpec(name, cls, is_package=True)  # type: ignore[arg-type] # the class loads
        spec.submodule_search_locations = _JoinedPath(name)  # type: ignore[assignment] # no list
        return spec

    @staticmethod
    def create_module(spec: ModuleSpec) -> JoinedPackage:
        return JoinedPackage(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        pass


def join_packages() -> None:
    """Join the packages from now on, and those that a user's program has imported already."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    for name in _JOINED:
        if (module := sys.modules.get(name)) and not isinstance(module, JoinedPackage):
            before = getattr(module, "__path__", ())
            module.__path__ = _JoinedPath(name, before)  # type: ignore[assignment] # no list


def module_named(name: str) -> str:
    """Return the name under which the module that a spec names is imported.

    A user's file is preferred to a module of that name in Python or in an installed package, which
    an `import` statement finds instead.
    """
    from importlib.util import find_spec

    if not name.isidentifier() or name in ("__main__", "desim", *_JOINED):
        return name
    found = sys.modules.get(name) or find_spec(name)
    file = getattr(found, "__file__", None) or getattr(found, "origin", None)
    hides = name in sys.stdlib_module_names or (file and is_installed(file))
    return HIDDEN + name if hides and _hidden_spec(HIDDEN + name) else name


def spec_name(made: Any) -> str:
    """Return `module:Name`, by which a spec names a class or a function."""
    return f"{made.__module__.removeprefix(HIDDEN)}:{made.__qualname__}"


def _hidden_spec(name: str) -> ModuleSpec | None:
    """Return the file that the user's own folders of the import path have; None for a package."""
    from importlib.util import spec_from_file_location

    folders = [folder for folder in sys.path if not is_installed(folder)]
    found = PathFinder.find_spec(name.removeprefix(HIDDEN), folders)
    if found is None or found.submodule_search_locations is not None:
        return None
    return spec_from_file_location(name, found.origin)


@cache
def is_installed(path: str) -> bool:
    """Return whether a file or folder belongs to Python or to an installed package."""
    import site
    import sysconfig

    library = map(sysconfig.get_path, ("stdlib", "platstdlib"))
    folders = [*library, *site.getsitepackages(), site.getusersitepackages()]
    inside = join(abspath(path), "")  # noqa: PTH100, PTH118
    return any(inside.startswith(join(abspath(each), "")) for each in folders)  # noqa: PTH100, PTH118


def _specs(package: str) -> Iterator[ModuleSpec]:
    """Yield what each folder of the import path has under the name of a package."""
    parent, _, _ = package.rpartition(".")
    for folder in [*(sys.modules[parent].__path__ if parent else sys.path)]:
        if spec := PathFinder.find_spec(package, [folder]):
            yield spec
