"""The package as a whole: which folder may import which, what each module must have, what an import may cost."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanewise

PACKAGE = Path(lanewise.__file__).parent
ROOT = Path(__file__).parents[1]
MODULES = sorted(PACKAGE.rglob("*.py"))
ORDER = ("lang", "compiler", "devices", "kernel", "host", "wasm", "arm64", "batch", "desktop", "bench", "cli")
"""The order in which data passes through the folders: each imports itself and those before it."""
FOR_ALL = {"errors", "settings", "version"}
MAX_LINES = 500


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """The lanewise modules that a file imports at run time, with the line; what only type checkers see is left out."""

    def visit(node: ast.AST) -> Iterator[tuple[int, str]]:
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: import by the full name"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    for line, module in visit(ast.parse(path.read_text())):
        if module.split(".")[0] == "lanewise":
            yield line, module


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_back_along_the_way_of_data(path):
    folder = path.relative_to(PACKAGE).parts[0]
    if folder in ORDER:
        allowed = {*FOR_ALL, *ORDER[: ORDER.index(folder) + 1]}
    else:
        roots = {"__init__.py": {"lang", "devices", "wasm", "arm64", "batch"}, "__main__.py": {"cli"}}
        allowed = FOR_ALL | roots.get(path.name, set())
    for line, module in imports(path):
        imported = ([*module.split("."), ""])[1]
        if imported not in {*ORDER, *FOR_ALL} and folder in ("bench", "cli"):
            continue  # the package itself, which gives `lang` and `devices` to its users
        assert imported in allowed, f"{name_of(path)}:{line} imports {module}; {folder} may import {sorted(allowed)}"


def test_every_folder_has_its_place():
    folders = {path.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE}
    assert folders <= set(ORDER), "name the new folder in ORDER and describe it in ARCHITECTURE.md"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text())), f"{name_of(path)} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_is_short(path):
    lines = len(path.read_text().splitlines())
    assert lines <= MAX_LINES, f"{name_of(path)} has {lines} lines; split it by its ideas"


def test_import_is_light():
    """LLVM and CUDA are loaded by the first device that needs them, not by the import."""
    show = "import json, sys, lanewise; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"llvmlite", "cuda", "typer", "rich", "hypothesis"}


def test_version_is_that_of_the_changelog():
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert any(lanewise.__version__ in heading for heading in headings)


def test_both_lists_of_device_code_agree():
    """mypy must be told twice which modules are device code: not to check them, and not to read them on import."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    skipped = next(override["module"] for override in settings["overrides"] if override.get("follow_imports") == "skip")
    files = {"lanewise/" + name_of(path) for path in MODULES}
    excluded = {file for file in files if any(re.search(pattern, file) for pattern in settings["exclude"])}
    assert excluded == {name.replace(".", "/") + ".py" for name in skipped}


def test_ci_runs_the_test_command_of_the_readme():
    commands = [
        line
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("pip install") and "&&" in line
    ]
    assert len(commands) == 2, "README.md opens with two commands: one runs the main job, one runs the tests"
    script = (ROOT / ".ci" / "run").read_text()
    for command in commands:
        assert command in script


def test_ci_script_can_be_run():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111 == 0o111
