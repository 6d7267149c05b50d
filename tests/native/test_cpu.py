"""Tests the features that native/system/cpu.c detects on processors that lack one: exactly the kernel libraries that
need it must become unavailable. Also tests the sizes of caches. The processors are simulated: processor.c passes
given values of CPUID and XCR0 to cpu.c, or qemu emulates one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_runner import OUT, PROGRAMS, ROOT

from lanewise._facts import FEATURES
from lanewise.backends import registry
from lanewise.backends.libraries import checked_path
from native import build, compiler, steps
from native.targets import TARGETS, Isa, host

pytestmark = pytest.mark.skipif(host().name != "x86_64-linux", reason="compiles and runs CPUID on x86-64 Linux")

ISAS = [isa for isa in TARGETS["x86_64-linux"].isas if isa.cpu_features]
HIGHEST, LEAF_1_C, LEAF_7_B, XCR0 = range(4)
# Where CPUID and XCR0 report each feature: Intel's manual, volume 2, CPUID; volume 1, 13.3.
BITS = {
    "fma": (LEAF_1_C, 12),
    "popcnt": (LEAF_1_C, 23),
    "osxsave": (LEAF_1_C, 27),
    "avx": (LEAF_1_C, 28),
    "f16c": (LEAF_1_C, 29),
    "avx2": (LEAF_7_B, 5),
    "avx512f": (LEAF_7_B, 16),
    "avx512dq": (LEAF_7_B, 17),
    "avx512bw": (LEAF_7_B, 30),
    "avx512vl": (LEAF_7_B, 31),
    "saved xmm": (XCR0, 1),
    "saved ymm": (XCR0, 2),
    "saved masks": (XCR0, 5),
    "saved upper halves": (XCR0, 6),
    "saved zmm16-31": (XCR0, 7),
}
COMPLETE = [
    0x20, *(sum(1 << bit for place, bit in BITS.values() if place == word) for word in (LEAF_1_C, LEAF_7_B, XCR0))
]  # fmt: skip


def _flags() -> dict[str, int]:
    """Returns the LW_CPU_* bits of lanewise_facts.h, by name."""
    return {name: 1 << bit for bit, name in enumerate(FEATURES)}


def needed(isa: Isa) -> set[str]:
    """Returns the features that the compilers may use for an instruction set, and those that these features require."""
    names = {flag[2:] for flag in isa.flags if flag.startswith("-m") and "=" not in flag}
    names |= set(isa.zig_cpu.split("+")[1:])
    if any(name.startswith("avx") for name in names):
        names |= {"osxsave", "avx", "saved xmm", "saved ymm"}
    if any(name.startswith("avx512") for name in names):
        names |= {"saved masks", "saved upper halves", "saved zmm16-31"}
    return names


def _without(*names: str) -> list[int]:
    described = list(COMPLETE)
    for name in names:
        place, bit = BITS[name]
        described[place] &= ~(1 << bit)
    return described


@pytest.fixture(scope="module")
def processor() -> Path:
    """The compiled processor.c, which reads descriptions of processors and prints what cpu.c detects on each."""
    folder = OUT / "processor"
    folder.mkdir(parents=True, exist_ok=True)
    using, target = compiler.choose(), host()
    source, compiled, program = PROGRAMS / "processor.c", folder / "processor.o", folder / "processor"
    inputs = (source, ROOT / "native" / "system" / "cpu.c", *build.included(build.KERNEL_INCLUDE))
    command = using.object(target, source, [*build.KERNEL_INCLUDE, ROOT / "native"], compiled)
    steps.run([steps.Step(compiled, command, inputs, using.version)])
    steps.run([steps.Step(program, using.program(target, [compiled], program), (compiled,), using.version)])
    return program


def _detected(processor: Path, described: list[list[int]], *words: str) -> list[int]:
    lines = "".join(" ".join(f"{word:x}" for word in each) + "\n" for each in described)
    done = subprocess.run([processor, *words], input=lines, capture_output=True, text=True, check=True)
    return [int(word, 16) for word in done.stdout.split()]


@pytest.fixture(scope="module")
def offered(processor: Path) -> Callable[[list[list[int]]], list[set[str]]]:
    """Returns a function that takes descriptions of processors, and returns the instruction sets
    that each can run."""
    flags = _flags()

    def detect(processors: list[list[int]]) -> list[set[str]]:
        found = _detected(processor, processors)
        return [{isa.name for isa in ISAS if all(bits & flags[name] for name in isa.cpu_features)} for bits in found]

    return detect


def test_python_and_c_give_each_feature_the_same_bit() -> None:
    flags = _flags()
    assert len(set(flags.values())) == len(flags)
    assert {name: bit for name, (bit, _) in registry._FEATURES.items()} == {
        name: bit for name, bit in flags.items() if name != "cuda"
    }


def test_a_complete_processor_has_every_instruction_set(offered):
    assert offered([COMPLETE]) == [{isa.name for isa in ISAS}]


@pytest.mark.parametrize("feature", BITS)
def test_one_missing_feature(offered, feature):
    """A processor that lacks one feature can run all libraries except those that need it."""
    (found,) = offered([_without(feature)])
    lacking = {isa.name for isa in ISAS if feature in needed(isa)}
    assert lacking, "no library needs the feature"
    assert found == {isa.name for isa in ISAS} - lacking


def test_leaves_beyond_the_highest_are_not_read(offered):
    assert offered([[highest, *COMPLETE[1:]] for highest in (1, 6)]) == [{"sse2", "avx"}] * 2
    assert offered([[7, *COMPLETE[1:]]]) == [{isa.name for isa in ISAS}]


KIB, MIB = 2**10, 2**20
DATA, INSTRUCTIONS, UNIFIED = 1, 2, 3  # CPUID's numbers for kinds of caches; each subleaf describes one cache


def _caches(*caches: tuple[int, int, int], ways: int = 8, partitions: int = 2, line: int = 64) -> list[int]:
    """Returns EAX, EBX and ECX of three subleaves of a leaf of CPUID, for caches given as (level, kind, size). The
    format is that of leaf 4 in Intel's manual, volume 2, CPUID; AMD's leaf 0x8000001D has the same."""
    words = []
    for level, kind, size in caches:
        others = 0xFC01C100  # sets bits of EAX's other fields, which change neither the size nor the level
        words += [kind | level << 5 | others, ways - 1 << 22 | partitions - 1 << 12 | line - 1]
        words += [size // (ways * partitions * line) - 1]
    return words + [0] * (9 - len(words))


NONE = _caches()
INTEL = _caches((1, DATA, 32 * KIB), (1, INSTRUCTIONS, 64 * KIB), (2, UNIFIED, 2 * MIB))
AMD = _caches((1, DATA, 48 * KIB), (2, UNIFIED, MIB), (3, UNIFIED, 32 * MIB))
# Name of the case -> the highest leaf, the highest extended leaf, the contents of leaves 4 and 0x8000001d, and the
# sizes of the largest cache for data and of L2.
CACHES = {
    "Intel": (0x20, 0x80000008, INTEL, NONE, 2 * MIB, 2 * MIB),
    "AMD": (0x10, 0x80000028, NONE, AMD, 32 * MIB, MIB),
    "the last leaf of AMD": (0x10, 0x8000001D, INTEL, AMD, 32 * MIB, MIB),
    "an extended leaf that is not there": (0x10, 0x8000001C, INTEL, AMD, 2 * MIB, 2 * MIB),
    "an extended leaf without caches": (0x10, 0x80000028, INTEL, NONE, 2 * MIB, 2 * MIB),
    "the last leaf of Intel": (4, 0x80000008, INTEL, NONE, 2 * MIB, 2 * MIB),
    "a leaf that is not there": (3, 0x80000008, INTEL, NONE, 0, 0),
    "no cache": (0x20, 0x80000028, NONE, NONE, 0, 0),
    "no L2": (4, 0, _caches((1, DATA, 32 * KIB), (3, UNIFIED, MIB)), NONE, MIB, 0),
    "L2 for data": (4, 0, _caches((2, DATA, MIB), (3, UNIFIED, 2 * MIB)), NONE, 2 * MIB, MIB),
    "L2 for instructions": (4, 0, _caches((2, INSTRUCTIONS, MIB), (2, UNIFIED, 512 * KIB)), NONE, 512 * KIB, 512 * KIB),
    "levels above 3": (4, 0, _caches((4, UNIFIED, 4 * MIB), (6, UNIFIED, 8 * MIB)), NONE, 8 * MIB, 0),
    "a larger cache for instructions": (4, 0, _caches((1, INSTRUCTIONS, MIB), (1, DATA, KIB)), NONE, KIB, 0),
    "a smaller cache at the end": (4, 0, _caches((2, UNIFIED, 2 * MIB), (3, UNIFIED, MIB)), NONE, 2 * MIB, 2 * MIB),
    "kinds that no processor has yet": (
        4,
        0,
        _caches((1, DATA, KIB), (2, 4, 2 * KIB), (3, 16, MIB)),
        NONE,
        MIB,
        2 * KIB,
    ),
    "the most ways, partitions and bytes per line": (
        *(4, 0, _caches((2, UNIFIED, 1 << 33), ways=1 << 10, partitions=1 << 10, line=1 << 12), NONE),
        *(1 << 33, 1 << 33),
    ),
    "the end of the list": (4, 0, _caches((1, DATA, KIB), (2, 0, MIB), (2, UNIFIED, MIB)), NONE, KIB, 0),
}


@pytest.mark.parametrize("case", CACHES)
def test_the_largest_cache_and_l2(processor: Path, case: str) -> None:
    leaf, extended, intel, amd, *expected = CACHES[case]
    assert _detected(processor, [[leaf, extended, *intel, *amd]], "caches") == expected


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa.name in ("avx", "avx2")], ids=lambda isa: isa.name)
def test_emulated_processors(isa: Isa, runner: Path, absent: Callable) -> None:
    """runner.c, which detects features with cpu.c, runs on an emulated Haswell, and refuses the library if the Haswell
    lacks any feature that the library needs."""
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        absent(isa.name, "qemu-x86_64 is not installed (Debian: qemu-user)")
    features = sorted(name for name in needed(isa) if not name.startswith(("saved", "osxsave")))
    opened = {}
    for lacking in ("", *(f",-{name}" for name in (*features, "xsave"))):
        command = [str(emulator), "-cpu", f"Haswell{lacking}", runner, checked_path(isa.name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or "lacks features that the library needs" in done.stderr, done.stderr
        opened[lacking] = done.returncode == 0
    assert opened == {lacking: not lacking for lacking in opened}
