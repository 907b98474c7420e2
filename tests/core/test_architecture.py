"""The plan of the house holds: an import only ever points down, plugins keep to their doors, modules stay small."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "src" / "yb_eval"

#: Floor of each room, as docs/architecture.md has it.
FLOORS = {
    "model": 0, "digest": 0, "expressions": 0, "statistics": 0, "errors": 0, "_lazy": 0, "batches": 0, "collecting": 0,
    "interfaces": 1, "discovery": 1, "plugins": 1, "hooks": 1, "options": 1,
    "datasets": 2, "targets": 2, "metrics": 2, "gates": 2, "executors": 2, "testing": 2, "scaffold": 2,
    "record": 3, "reports": 3, "builtin": 3,
    "runner": 4, "preparation": 4, "ahead": 4, "work": 4, "runoptions": 4, "envelope": 4,
    "composition": 5, "dryrun": 5, "configuration": 5, "resolution": 5, "schema": 5, "forges": 5, "view": 5,
    "cli": 6, "api": 6, "__init__": 7, "__main__": 7,
}  # fmt: skip

#: Downward only, but these know each other by type alone.
ALLOWED = {("plugins", "interfaces"), ("hooks", "interfaces")}


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda p: str(p.relative_to(CORE)))
def test_an_import_only_ever_points_down(path):
    parts = path.relative_to(CORE).with_suffix("").parts
    own = FLOORS[parts[0]]
    for module in imports(path):
        if module.split(".")[0] == "yb_eval" and parts[0] not in ("__init__", "__main__"):
            other = room(module)
            if other == "__init__" and own >= 3:
                continue  # the public names, from above
            assert FLOORS[other] <= own, f"{path.name} (floor {own}) imports {module} (floor {FLOORS[other]})"


def test_rooms_of_the_second_floor_do_not_know_each_other():
    rooms = {"datasets", "targets", "metrics", "gates", "executors"}
    for name in rooms:
        for path in (CORE / name).rglob("*.py"):
            known = {room(module) for module in imports(path) if module.startswith("yb_eval.")}
            assert not known & (rooms - {name}), path


def test_plugins_know_neither_each_other_nor_the_private_parts_of_core():
    packages = {path.name for path in (ROOT / "plugins").glob("*/src/*") if path.is_dir()}
    for path in (ROOT / "plugins").glob("*/src/*/**/*.py"):
        own = next(part for part in path.parts if part in packages)
        for module in imports(path):
            top, *rest = module.split(".")
            assert top not in packages - {own}, f"{path}: {module}"
            assert top != "yb_eval" or not any(part.startswith("_") for part in rest), f"{path}: {module}"


def test_core_knows_no_suite_by_name():
    for path in CORE.rglob("*.py"):
        for module in imports(path):
            assert not module.startswith("yb_eval_"), f"{path}: {module}"


def test_modules_hold_one_idea():
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in CORE.rglob("*.py")}
    assert {str(path): size for path, size in sizes.items() if size > 400} == {}
