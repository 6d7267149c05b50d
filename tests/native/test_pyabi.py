"""Compares the declarations in native/pyabi.h with the real headers of this Python and of those installed next to it:
prototypes are declared again after Python.h, so that the compiler refuses different types; two programs, one with each
header, print sizes, offsets and constants; and the extension is compiled with Python.h instead of pyabi.h.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import pytest

from native.build import EXTENSION_INCLUDE

ROOT = Path(__file__).parents[2]
PYABI = ROOT / "native" / "pyabi.h"
TEXT = PYABI.read_text(encoding="utf-8")
OWN = TEXT.split("#else", 1)[1].split("#endif /* LW_PYABI_CHECK */")[0]
ZIG = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu", "-std=c11"]
REAL = "#define Py_LIMITED_API 0x030b0000\n#include <Python.h>\n#include <structmember.h>\n#include <stddef.h>\n"


def _headers() -> dict[str, Path]:
    """Returns the include folders of the installed Pythons from 3.11 on, by version."""
    own = Path(sysconfig.get_path("include"))
    found = [own, *Path(sys.base_prefix).parent.glob("*/include/python3.*")]  # those that pyenv installed
    versions: dict[str, Path] = {}
    for folder in found:
        version = folder.name.removeprefix("python")
        if re.fullmatch(r"3\.\d+", version) and int(version[2:]) >= 11 and (folder / "Python.h").exists():
            versions.setdefault(version, folder)
    return versions


HEADERS = _headers()

pytestmark = pytest.mark.skipif(not HEADERS, reason="no Python here has its headers (Python.h) installed")


@pytest.fixture(params=sorted(HEADERS) or ["none"])
def headers(request: pytest.FixtureRequest) -> Path:
    return HEADERS[request.param]


def _compile(source: str, folder: Path, *flags: str | Path) -> subprocess.CompletedProcess[str]:
    path = folder / "check.c"
    path.write_text(source)
    return subprocess.run([*ZIG, *map(str, flags), str(path)], capture_output=True, text=True, check=False)


def prototypes() -> list[str]:
    """Returns the declarations of functions and objects in pyabi.h, except of functions that it defines itself."""
    text = re.sub(r"/\*.*?\*/", "", OWN, flags=re.DOTALL)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"static inline [^{]*\{(?:[^{}]|\{[^{}]*\})*\}", "", text)
    text = re.sub(r"typedef [^{;]*\{[^}]*\}[^;]*;|typedef [^;]*;", "", text)
    text = text.replace('extern "C" {', "").replace("LW_PYDATA ", "")
    return [statement for statement in (part.strip(" \n}") for part in text.split(";")) if statement]


def test_prototypes_agree(headers: Path, tmp_path: Path) -> None:
    # leaves out True and False, which Python declares as struct _longobject: Lanewise uses only their addresses
    declared = [re.sub(r"_Py_(True|False)Struct,? ?", "", line) for line in prototypes()]
    assert len(declared) > 50
    source = REAL + "".join(f"{line};\n" for line in declared)
    done = _compile(source, tmp_path, "-c", "-Werror", "-I", headers, "-o", tmp_path / "check.o")
    assert done.returncode == 0, done.stderr


def _measured() -> Iterable[tuple[str, str]]:
    """Yields a name and a C expression for the size of each struct, the offset of each field, and each constant."""
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", OWN, flags=re.DOTALL):
        yield f"sizeof({name})", f"sizeof({name})"
        for field in re.findall(r"(\w+)(?:\)\([^;]*\))?;", body):
            yield f"{name}.{field}", f"offsetof({name}, {field})"
    for name in re.findall(r"^#define ((?:Py|METH|T_|READONLY)\w*) [\d(]", OWN, flags=re.MULTILINE):
        if name not in ("Py_None", "Py_NotImplemented", "Py_True", "Py_False", "Py_Ellipsis"):
            yield name, name


def test_sizes_and_constants_agree(headers: Path, tmp_path: Path) -> None:
    lines = [f'    printf("{name} %lld\\n", (long long)({expression}));' for name, expression in _measured()]
    assert len(lines) > 100
    body = "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n    return 0;\n}\n"
    printed = []
    for name, head, include in (("own", '#include "pyabi.h"\n', PYABI.parent), ("real", REAL, headers)):
        program = tmp_path / name
        done = _compile(head + body, tmp_path, "-O1", "-I", include, "-o", program)
        assert done.returncode == 0, done.stderr
        printed.append(subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
    assert printed[0] == printed[1]


def test_the_extension_compiles_with_the_real_headers(headers: Path, tmp_path: Path) -> None:
    sources = sorted((ROOT / "native" / "extension").rglob("*.c"))
    assert sources
    folders = [word for folder in (*EXTENSION_INCLUDE, headers) for word in ("-I", str(folder))]
    flags = ["-DLW_PYABI_CHECK", "-c", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-Wno-macro-redefined"]
    command = [*ZIG, *flags, *folders, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
