"""`python:package.module:attribute`: a callable found by name, and what is known of the code behind it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from yb_eval.digest import identify, sha256_hex
from yb_eval.errors import UsageError, nearest, shorten
from yb_eval.interfaces import Answer, Concurrency
from yb_eval.targets.callables import CallableTarget, Request
from yb_eval.targets.failures import failed
from yb_eval.targets.fingerprints import file_digest
from yb_eval.targets.secrets import mask
from yb_eval.targets.settings import Settings
from yb_eval.targets.wire import plain

# Small enough that an interrupted run loses little, large enough that the cost of a batch is spread over several
# requests.
_SERIAL_BATCH = 16
_TOGETHER_BATCH = 64


class PythonTarget(CallableTarget):
    """A callable of the user's. In another process it is found again by its name: the object itself need not pickle."""

    def __init__(self, spec: str, settings: Settings, *, fingerprint: str | None = None) -> None:
        call, modules = _find(spec, settings.base)
        batch = bool(getattr(call, "batch", False))
        size = _TOGETHER_BATCH if batch else _SERIAL_BATCH if settings.jobs == 1 else 1
        super().__init__(
            call,
            spec=mask(spec),
            fingerprint=fingerprint or _fingerprint(spec, call, modules, settings.base),
            batch=batch,
            batch_size=_size(spec, getattr(call, "batch_size", size)),
            concurrency=_concurrency(spec, getattr(call, "concurrency", "threads")),
            timeout=settings.timeout,
        )
        self._recipe = (spec, settings)

    def ask(self, requests: Sequence[Request], *, repeat: int = 0) -> Sequence[Answer]:
        # A copy, as another process would get: what the callable does to it must not reach the sample behind it.
        return super().ask([plain(dict(request)) for request in requests], repeat=repeat)

    def __reduce__(self) -> tuple[Any, ...]:
        # The fingerprint travels: the worker's answers are those of the code that was identified when the run began.
        return (_reopen, (*self._recipe, self.fingerprint))


def open_python(spec: str, settings: Settings) -> PythonTarget:
    """The target that `spec` (`python:package.module:attribute`) names.

    The folder `settings.base` is importable, before installed packages. The callable's attributes `batch`,
    `batch_size` and `concurrency` are honoured. Raises `UsageError` saying what is missing.

    The fingerprint covers the spec, the source files of the package that the module and the callable come from, the
    version of their distribution and the callable's own `fingerprint` (a string), if it has one: that is where to
    name a model or a setting.
    """
    return PythonTarget(spec, settings)


def _reopen(spec: str, settings: Settings, fingerprint: str) -> PythonTarget:
    return PythonTarget(spec, settings, fingerprint=fingerprint)


def check_python(spec: str, base: Path) -> None:
    """Raises `UsageError` if `spec` names no module that there is. Nothing is imported, so what is in the module cannot
    be told."""
    name, _ = _named(spec)
    missing = _missing(name, base)
    if missing is not None:
        raise _no_module(missing, spec)


def _missing(name: str, base: Path) -> str | None:
    """The first of `a`, `a.b`, ... that no folder has, of the dotted name of a module."""
    known, *inner = name.split(".")
    importlib.invalidate_caches()
    try:
        found = PathFinder.find_spec(known, [str(base.absolute())]) or importlib.util.find_spec(known)
        for part in inner if name not in sys.modules else ():
            if found is None:
                break
            known = f"{known}.{part}"
            found = PathFinder.find_spec(known, found.submodule_search_locations or [])
    except (KeyError, ValueError, ImportError):
        return None  # folders without __init__ in one another, or a finder that cannot say: importing will tell
    return known if found is None else None


def _named(spec: str) -> tuple[str, str]:
    """The names of the module and of what is in it."""
    name, colon, attribute = spec.removeprefix("python:").partition(":")
    if not colon or not name or not attribute:
        raise UsageError(f"{mask(spec)!r} does not name a callable", hint="python:package.module:attribute")
    if name.endswith(".py") or "/" in name:
        stem = Path(name).with_suffix("").as_posix().strip("./").replace("/", ".")
        raise UsageError(f"{name!r} is a file, not a module", where=mask(spec), hint=f"python:{stem}:{attribute}")
    return name, attribute


def _find(spec: str, base: Path) -> tuple[Callable[..., Any], list[ModuleType]]:
    """The callable, the module that was named and, where it is another one, the module that defines the callable."""
    name, attribute = _named(spec)
    module = _import(name, spec, base)
    found: Any = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            public = [word for word in dir(found) if not word.startswith("_")]
            raise UsageError(
                f"{name} has no {attribute!r}", where=mask(spec), hint=nearest(part, public[:1000]) if public else None
            ) from None
    if not callable(found):
        raise UsageError(f"{attribute} is a {type(found).__name__}, which cannot be called", where=mask(spec))
    home = sys.modules.get(getattr(found, "__module__", None) or type(found).__module__)
    return found, [module] if home is None or home is module else [module, home]


def _import(name: str, spec: str, base: Path) -> ModuleType:
    folder = base.absolute()
    # In front, as `python -m` has it: what stands in the folder is what the user means.
    if str(folder) in sys.path:
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    _forget_namesake(name.partition(".")[0], folder)
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except ModuleNotFoundError as error:
        missing = error.name or name
        if name == missing or name.startswith(missing + "."):
            raise _no_module(missing, spec) from error
        hint = f"install what provides {missing!r}"
        raise UsageError(f"{name} cannot be imported: {failed(error)}", where=mask(spec), hint=hint) from error
    except BaseException as error:  # a module that calls sys.exit(0) must not end us with 0
        raise UsageError(f"{name} cannot be imported: {failed(error)}", where=mask(spec)) from error


def _no_module(missing: str, spec: str) -> UsageError:
    hint = "looked in the working folder and in what is installed"
    return UsageError(f"there is no module {missing!r}", where=mask(spec), hint=hint)


def _forget_namesake(top: str, folder: Path) -> None:
    """Drops an imported module that is not the one in `folder`: another run in this process may have evaluated a
    module of that name in another folder, and must not be evaluated again in this one's place.
    """
    loaded = getattr(sys.modules.get(top), "__file__", None)
    here = [path for path in (folder / top / "__init__.py", folder / f"{top}.py") if path.is_file()]
    if loaded is None or not here or Path(loaded).resolve() in [path.resolve() for path in here]:
        return
    for name in [name for name in sys.modules if name == top or name.startswith(top + ".")]:
        del sys.modules[name]


def _size(spec: str, size: Any) -> int:
    if type(size) is not int or size < 1:
        raise UsageError(f"its batch_size is {shorten(size)}, not a whole number of at least 1", where=mask(spec))
    return size


def _concurrency(spec: str, concurrency: Any) -> Concurrency:
    for known in get_args(Concurrency):
        if concurrency == known:
            return known  # type: ignore[no-any-return]
    known = ", ".join(get_args(Concurrency))
    raise UsageError(f"its concurrency is {shorten(concurrency)}", where=mask(spec), hint=f"known: {known}")


def _fingerprint(spec: str, call: Callable[..., Any], modules: list[ModuleType], base: Path) -> str:
    told = getattr(call, "fingerprint", None)
    return identify(
        "target",
        {
            "spec": mask(spec),
            "code": [_code(module, base) for module in modules],
            "fingerprint": told if isinstance(told, str) else None,
        },
    )


def _code(module: ModuleType, base: Path) -> dict[str, Any]:
    """What a module's behaviour is known by: its package's sources and its distribution's version."""
    file = getattr(module, "__file__", None)
    return {
        "module": module.__name__,
        "source": None if file is None else _source(module.__name__, Path(file)),
        "distribution": None if file is None or _within(Path(file), base) else _distribution(module.__name__),
    }


def _source(name: str, file: Path) -> str:
    """The sha256 of the module's file or, inside a package, the digest of all Python files of the outermost package:
    a change in any of them can change the answers, whichever have been imported by now.
    """
    package: Path | None = None
    folder = file.parent
    for _ in range(name.count(".") + file.name.startswith("__init__.")):
        if not (folder / "__init__.py").is_file():
            break
        package, folder = folder, folder.parent
    if package is None:
        return file_digest(file)
    lines = sorted(f"{path.relative_to(package).as_posix()} {file_digest(path)}" for path in _python_files(package))
    return sha256_hex("\n".join(lines).encode("utf-8", "surrogateescape"))


def _python_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.py") if path.is_file())


def _within(file: Path, base: Path) -> bool:
    # A virtual environment often lies in the working folder; what is in it is installed all the same.
    return file.resolve().is_relative_to(base.resolve()) and "site-packages" not in file.parts


def _distribution(name: str) -> list[str] | None:
    from importlib_metadata import packages_distributions, version

    owners = sorted(set(packages_distributions().get(name.partition(".")[0], ())))
    return [f"{owner} {version(owner)}" for owner in owners] or None
