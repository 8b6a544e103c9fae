"""The documents say what the code does: their Python blocks run, and what they list is made from the docstrings.

Set LANEWISE_REWRITE=1 to write the vocabulary in docs/language.md and the files in ARCHITECTURE.md anew.
"""

import ast
import inspect
import os
import re
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

import lanewise
from lanewise import lang, settings
from lanewise.lang import functions, structs
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.intrinsics import BUILTINS, Intrinsic, Marker
from lanewise.lang.overloads import Overloads

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "language.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- vocabulary: begin -->\n", "<!-- vocabulary: end -->\n"
PUBLIC = {
    name: found
    for name, found in vars(lang).items()
    if not name.startswith("_") and not isinstance(found, types.ModuleType)
}

GROUPS = {
    "Threads": "thread_id thread_count local_id group_id group_count threadgroup_size lane_id grid_range ON_GPU",
    "Waiting": "threadgroup_barrier memory_barrier thread_yield clock time_ns",
    "Memory": "shared read_shared write_shared addressof bitcast len",
    "Atomics": " ".join(name for name in PUBLIC if name.startswith("atomic_")),
    "Warps": " ".join(name for name in PUBLIC if name.startswith(("warp_", "lanes_"))),
}
"""Where each name is listed; all that is not named here is listed under Numbers."""


def signature_and_meaning(name: str, found: object) -> tuple[str, str]:
    doc = inspect.cleandoc(found.__doc__ or "")
    written = re.match(r"([^\n]*?\)(?: -> \w+)?):? (.*)", doc, re.DOTALL)
    if isinstance(found, DeviceFunction):
        parameters = ", ".join(f"{parameter}: {kind}" for parameter, kind in found.parameters.items())
        result = "" if found.result is functions.VOID else f" -> {found.result}"
        return f"{name}({parameters}){result}", doc[:1].lower() + doc[1:]
    return (written[1], written[2]) if written else (name, doc)


def vocabulary() -> str:
    words = {name: found for name, found in PUBLIC.items() if isinstance(found, Intrinsic | Overloads | Marker)}
    words |= {name: found for name, found in PUBLIC.items() if isinstance(found, DeviceFunction)}
    words |= {builtin.__name__: intrinsic for builtin, intrinsic in BUILTINS.items()}
    groups = {title: names.split() for title, names in GROUPS.items()}
    listed = {name for names in groups.values() for name in names}
    groups["Numbers"] = [name for name in words if name not in listed]
    lines = []
    for title, names in groups.items():
        lines += [f"### {title}", ""]
        for name in names:
            signature, meaning = signature_and_meaning(name, words[name])
            meaning = " ".join(meaning.split())
            lines += textwrap.wrap(f"- `{signature}`: {meaning}", 120, subsequent_indent="  ", break_on_hyphens=False)
        lines.append("")
    return "\n".join(lines) + "\n"


def check_or_rewrite(path: Path, wanted: str) -> None:
    if os.environ.get("LANEWISE_REWRITE"):
        path.write_text(wanted)
    assert path.read_text() == wanted, "run LANEWISE_REWRITE=1 python -m pytest tests/test_docs.py"


def test_vocabulary_is_that_of_the_docstrings():
    text = REFERENCE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    check_or_rewrite(REFERENCE, before + BEGIN + "\n" + vocabulary() + END + after)


def described_files(folder: str, before: str) -> str:
    """A list of a folder's modules with their first words; those that were listed keep their order."""
    present = sorted(path.name for path in (ROOT / "lanewise" / folder).glob("*.py") if path.name != "__init__.py")
    known = [name for name in re.findall(r"^- `(\w+\.py)`", before, re.MULTILINE) if name in present]
    lines = []
    for name in [*known, *(name for name in present if name not in known)]:
        doc = ast.get_docstring(ast.parse((ROOT / "lanewise" / folder / name).read_text())) or ""
        first = " ".join(doc.split("\n\n")[0].split())
        lines += textwrap.wrap(f"- `{name}`: {first}", 120, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([f"<!-- files: {folder} -->", *lines, "<!-- end -->"])


def test_files_in_the_architecture_are_those_of_the_package():
    text = ARCHITECTURE.read_text()
    sections = re.compile(r"<!-- files: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)
    folders = {path.parent.name for path in (ROOT / "lanewise").glob("*/*.py")}
    assert folders == {section[1] for section in sections.finditer(text)}
    check_or_rewrite(ARCHITECTURE, sections.sub(lambda found: described_files(found[1], found[2]), text))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_name_is_documented(name):
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", REFERENCE.read_text()), f"{name} is not in docs/language.md"


def test_decorators_have_docstrings():
    for decorator in (functions.kernel, functions.device, structs.struct):
        assert decorator.__doc__


def test_every_setting_is_documented():
    read = set(re.findall(r'"(LANEWISE_\w+)"', inspect.getsource(settings)))
    assert read == set(re.findall(r"^\| `(LANEWISE_\w+)`", REFERENCE.read_text(), re.MULTILINE))


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)


def run(script: Path, *, expect: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", script.name]
    done = subprocess.run(
        command, cwd=script.parent, capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def test_blocks_of_the_language_reference_run(tmp_path):
    script = tmp_path / "reference.py"
    script.write_text("\n\n".join(python_blocks(REFERENCE)))
    run(script)


def copy_modules(target: Path) -> None:
    """Put the modules of the examples where blocks of the documents look for them."""
    for module in (ROOT / "examples" / "wasm").glob("*.wasm"):
        (target / module.name).write_bytes(module.read_bytes())


def test_blocks_of_the_webassembly_guide_run(tmp_path):
    copy_modules(tmp_path)
    script = tmp_path / "guide.py"
    script.write_text("\n\n".join(python_blocks(ROOT / "docs" / "wasm.md")))
    run(script)


def test_blocks_of_the_desktop_guide_run(tmp_path):
    script = tmp_path / "guide.py"
    script.write_text("\n\n".join(python_blocks(ROOT / "docs" / "desktop.md")))
    run(script)


def test_webassembly_guide_shows_what_a_module_shows():
    shown = re.search(
        r'>>> lw\.load\("([\w.]+)"\)\n(.*?)^```', (ROOT / "docs" / "wasm.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert shown, "docs/wasm.md shows no module"
    assert shown[2].rstrip() == repr(lanewise.load(ROOT / "examples" / "wasm" / shown[1]))


@pytest.mark.parametrize("example", ["histogram.py", "wasm/vectorised.py"])
def test_readme_shows_the_example(example):
    assert (ROOT / "examples" / example).read_text() in python_blocks(ROOT / "README.md")


def test_blocks_of_the_readme_run(tmp_path):
    copy_modules(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for index, block in enumerate(python_blocks(ROOT / "README.md")):
        script = tmp_path / f"block{index}.py"
        script.write_text(block)
        run(script, LANEWISE_DEVICE="cpu")


def test_readme_shows_the_real_error(tmp_path):
    readme = (ROOT / "README.md").read_text()
    shown = re.search(r"^```text\n(histogram\.py:.*?)^```", readme, re.DOTALL | re.MULTILINE)
    assert shown, "README.md shows no error of histogram.py"
    script = tmp_path / "histogram.py"
    right = (ROOT / "examples" / "histogram.py").read_text()
    wrong = right.replace("u32(data[i] * 256.0)", "data[i] * 256.0")
    assert wrong != right
    script.write_text(wrong)
    assert shown[1].rstrip() in run(script, expect=1, LANEWISE_DEVICE="cpu").stderr


def test_links_in_the_documents_lead_somewhere():
    for document in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
