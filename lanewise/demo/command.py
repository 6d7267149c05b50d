"""`python -m lanewise demo`: reads the held-out digits on each backend, in NumPy and in PyTorch, where available.

Prints the accuracy and the images per second of one thread for each, then whether all predictions agree. The exit
status is 0 only if they agree and every accuracy is at least 97 %.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import lanewise as lw
from lanewise.backends import selection
from lanewise.costs.timing import Contestant, limit_blas_threads, measure, threads
from lanewise.demo import digits as data
from lanewise.demo.network import Network, tensor
from lanewise.demo.plot import check_picture_path, draw
from lanewise.errors import LanewiseError, named

MIN_ACCURACY = 0.97  # fraction of the held-out digits that must be classified correctly
NUMPY, TORCH = "numpy", "torch"

# Unless this variable is set when NumPy is imported, OpenBLAS chooses its kernels by the CPU's model. On newer AMD
# processors, it then chooses those for AVX2, which halves the speed.
BLAS_KERNELS = {"OPENBLAS_CORETYPE": "SkylakeX"}  # selects kernels for AVX-512


@dataclass(frozen=True)
class Reader:
    """One implementation of the network, ready to run."""

    contestant: Contestant
    predict: Callable[[], list[int]]


@dataclass(frozen=True)
class Outcome:
    """The accuracy, speed and predictions of one Reader."""

    name: str
    accuracy: float
    images_per_second: float
    predictions: tuple[int, ...]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    options = _parser().parse_args(argv)
    try:
        _configure_blas()
        if options.plot:
            check_picture_path(options.plot)
        digits = data.load()
        outcomes = _run(digits, _backends(options.backend), as_text=not options.json)
        agree = len({outcome.predictions for outcome in outcomes}) == 1
        _report(digits, outcomes, agree, as_json=options.json)
        if options.plot:
            draw(digits, outcomes[0].predictions, options.plot)
            print(f"wrote {options.plot}", file=sys.stderr)
    except (LanewiseError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if agree and all(outcome.accuracy >= MIN_ACCURACY for outcome in outcomes) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lanewise demo",
        description="Read handwritten digits with a small network on every backend.",
    )
    parser.add_argument("--backend", metavar="NAME", help="run only this backend (default: every available one)")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    parser.add_argument("--plot", metavar="FILE", help="draw the digits and their predictions (needs lanewise[plot])")
    return parser


@named("demo")
def _backends(name: str | None) -> list[str]:
    if name is None:
        return [str(info.name) for info in lw.backends() if info.available]
    return [str(selection.open_backend(name))]


def _run(digits: data.Digits, backends: Sequence[str], as_text: bool) -> list[Outcome]:
    readers = [_on_backend(digits, backend) for backend in backends]
    readers += [read(digits) for name, read in ((NUMPY, _in_numpy), (TORCH, _in_torch)) if find_spec(name) is not None]
    if as_text:
        weights = sum(len(weight.values) for weight in digits.weights.values())
        print(f"{len(digits.labels)} of {data.DATA_SET:,} handwritten digits, held out from training;", end=" ")
        print(f"a convolutional network with {weights:,} weights; one thread\n", flush=True)
    predictions = [tuple(reader.predict()) for reader in readers]
    with threads(1):
        timings = measure([reader.contestant for reader in readers])
    return [
        Outcome(
            name=timing.name,
            accuracy=sum(map(int.__eq__, predicted, digits.labels)) / len(digits.labels),
            images_per_second=len(digits.labels) / timing.minimum * 1e9,
            predictions=predicted,
        )
        for timing, predicted in zip(timings, predictions, strict=True)
    ]


def _on_backend(digits: data.Digits, backend: str) -> Reader:
    use = partial(lw.use_backend, backend)
    with use():
        network, images = Network(digits), tensor(digits)
    if lw.Backend(backend).is_gpu:
        contestant = Contestant.calling(backend, network, images.to(backend), context=use, finish=_predictions)
    else:
        contestant = Contestant.calling(backend, network, images, context=use)
    return Reader(contestant, lambda: _predictions(contestant.run()))


def _predictions(probabilities: Any) -> list[int]:
    """Returns the most probable class of each image."""
    result: list[int] = lw.argmax(probabilities, axis=1).tolist()
    return result


def _configure_blas() -> None:
    """Makes NumPy use one thread and its best kernels. Call before NumPy is imported, directly or by matplotlib."""
    if "numpy" not in sys.modules:
        limit_blas_threads(1)
        if any(info.name == "avx512" and info.available for info in lw.backends()):
            os.environ.update(BLAS_KERNELS)


def _in_numpy(digits: data.Digits) -> Reader:
    from lanewise.demo.numpy_peer import NumpyNetwork, array

    network, images = NumpyNetwork(digits), array(digits)
    contestant = Contestant.calling(NUMPY, network, images)
    return Reader(contestant, partial(_peer_predictions, contestant))


def _in_torch(digits: data.Digits) -> Reader:
    from lanewise.demo import torch_peer

    torch_peer.use_one_thread()
    contestant = Contestant.calling(TORCH, torch_peer.TorchNetwork(digits), torch_peer.tensor(digits))
    return Reader(contestant, partial(_peer_predictions, contestant))


def _peer_predictions(contestant: Contestant) -> list[int]:
    probabilities: Any = contestant.run()
    result: list[int] = probabilities.argmax(axis=1).tolist()
    return result


def _report(digits: data.Digits, outcomes: Sequence[Outcome], agree: bool, as_json: bool) -> None:
    if as_json:
        readers = [
            {"name": o.name, "accuracy": o.accuracy, "images_per_second": round(o.images_per_second)} for o in outcomes
        ]
        report = {
            "digits": len(digits.labels),
            "readers": readers,
            "agree": agree,
            "positions": digits.positions,
            "predictions": outcomes[0].predictions,
        }
        print(json.dumps(report))
        return
    width = max(len(outcome.name) for outcome in outcomes)
    software = {info.name for info in lw.backends() if any(device.software for device in info.devices[:1])}
    for outcome in outcomes:
        note = "  (for comparison)" if outcome.name in (NUMPY, TORCH) else ""
        if outcome.name in software:
            note = "  (a software adapter)"
        print(
            f"  {outcome.name:<{width}}  accuracy {outcome.accuracy:.1%}".replace("%", " %")
            + f"  {outcome.images_per_second:>11,.0f} images/s{note}"
        )
    print("\n" + _verdict(digits, outcomes, agree))


def _verdict(digits: data.Digits, outcomes: Sequence[Outcome], agree: bool) -> str:
    names = ", ".join(outcome.name for outcome in outcomes)
    if agree:
        return f"All {len(digits.labels)} predictions agree: {names}."
    first, *others = outcomes
    lines = ["Predictions DIFFER:"]
    for other in others:
        pairs = enumerate(zip(first.predictions, other.predictions, strict=True))
        differing = [(index, mine, theirs) for index, (mine, theirs) in pairs if mine != theirs]
        if differing:
            index, mine, theirs = differing[0]
            lines.append(
                f"  {other.name} on {len(differing)} digits; the first is number {digits.positions[index]}: "
                f"{first.name} says {mine}, {other.name} {theirs}, the label is {digits.labels[index]}"
            )
    return "\n".join(lines)
