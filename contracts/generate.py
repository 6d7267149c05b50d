"""Generates C, headers, stubs, shaders, metadata and test oracles from the contracts. Nothing generated is committed.

    python contracts/generate.py --out build/generated      C, headers, stubs, shaders, metadata
    python contracts/generate.py --oracle build/oracle      inputs and reference results for the tests (needs NumPy)

Files whose content stays the same are not written, so that a build repeats only the steps that a change affects.
--out needs PyYAML and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))  # `generator` is not an installed package

from generator import extension, facts, kernels, metadata, sources, stubs, table  # noqa: E402
from generator.fields import ContractError  # noqa: E402
from generator.load import load_contracts  # noqa: E402
from generator.schema import Contract  # noqa: E402
from generator.shaders import wgsl  # noqa: E402


def files(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns the text of each generated file by path. Files under lanewise/ go into the package."""
    sources.check(contracts, FOLDER.parent)
    shaders = wgsl.emit(contracts)
    library = metadata.emit(contracts) | wgsl.pack(shaders)
    package = stubs.emit(contracts, FOLDER.parent / "lanewise")
    package |= {f"_lib/{name}": text for name, text in library.items()}
    native = facts.emit() | table.emit(contracts) | extension.emit(contracts) | kernels.emit(contracts)
    native |= wgsl.emit_table(contracts, shaders)
    return native | metadata.emit_bench(contracts) | {f"lanewise/{name}": text for name, text in package.items()}


WRITTEN = ".written"  # lists the files of the last run: only these are ever removed


def write(generated: dict[str, str], out: Path, verbose: bool) -> None:
    """Writes the files that changed and removes those of the last run that are no longer generated."""
    listing = out / WRITTEN
    before = listing.read_text(encoding="utf-8").split("\n") if listing.exists() else []
    generated = generated | {WRITTEN: "\n".join(sorted(generated))}
    for name, text in sorted(generated.items()):
        path = out / name
        content = text.encode()
        if path.exists() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if verbose:
            print(f"wrote {path}")
    for name in before:
        if name not in generated and (out / name).is_file():
            (out / name).unlink()
            if verbose:
                print(f"removed {out / name}")


def main() -> int:
    """Runs the command. Returns 1 if a contract or a source file is invalid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write C, headers, stubs, shaders and metadata")
    parser.add_argument(
        "--oracle",
        type=Path,
        metavar="FOLDER",
        help="write inputs and reference results for the tests to FOLDER and FOLDER_paths",
    )
    parser.add_argument("--only", action="append", metavar="OPERATION", help="with --oracle: these operations only")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each file that was written or removed")
    options = parser.parse_args()
    if not options.out and not options.oracle:
        parser.error("give --out FOLDER, --oracle FOLDER, or both")
    try:
        # The field `measured` is not checked for a build, because numerical errors can be measured only after it.
        contracts = load_contracts(FOLDER, check_measured=bool(options.oracle))
        if options.out:
            write(files(contracts), options.out, options.verbose)
        if options.oracle:
            from generator import oracle  # needs NumPy, which builds do not install

            oracle.write(contracts, options.oracle, options.only, options.verbose)
    except ContractError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
