"""Reports what this machine can run: backends, their devices, and why a backend is missing.

Gets its facts from registry.py; the `info` command prints them. Listing devices reads files and may call
drivers, so nothing here runs at import.
"""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from lanewise.backends import registry, selection, threads
from lanewise.backends.backend import PRIORITY, Backend, parse_backend
from lanewise.backends.devices import GIGABYTE, DeviceInfo
from lanewise.costs import offload
from lanewise.errors import named

__all__ = ["BackendInfo", "backend_summary", "backends", "best_available_backend", "print_backend_summary"]


class BackendInfo(NamedTuple):
    """A backend and its devices, or the reason why it is not available on this machine."""

    name: Backend
    available: bool
    reason: str | None
    devices: tuple[DeviceInfo, ...]

    @property
    def type(self) -> str:
        """The kind of hardware: "CPU" or "GPU"."""
        return "GPU" if self.name.is_gpu else "CPU"

    def __str__(self) -> str:
        """`✓ avx2: [0] CPU: 16.00 GB`, or `✗ avx2: the reason it is missing`."""
        details = "; ".join(map(str, self.devices)) if self.available else self.reason
        return f"{'✓' if self.available else '✗'} {self.name}: {details}"


class BackendList(list[BackendInfo]):
    """The list that backends() returns. print() shows one backend per line."""

    def __repr__(self) -> str:
        return _encodable("\n".join(map(str, self)))

    def _repr_html_(self) -> str:
        from html import escape

        # Without this style, JupyterLab aligns cells to the right. Colors are the notebook's, light or dark.
        cell = '<td style="text-align:left">'
        rows = []
        for info in self:
            details = map(str, info.devices) if info.available else [info.reason or ""]
            words = ("✓" if info.available else "✗", f"<b>{info.name}</b>", "<br>".join(map(escape, details)))
            rows.append(f"<tr>{cell}{f'</td>{cell}'.join(words)}</td></tr>")
        return f"<table>{''.join(rows)}</table>"


def backends() -> list[BackendInfo]:
    """Returns every backend, in the order of lw.Backend. print() shows a line for each.

    >>> import lanewise as lw
    >>> lw.backends()[-1].name, lw.backends()[-1].available
    (<Backend.SCALAR: 'scalar'>, True)
    """
    infos = BackendList()
    for backend in PRIORITY:
        reason = registry.missing(backend) or registry.damage(backend) or registry.refusal(backend)
        infos.append(BackendInfo(backend, not reason, reason or None, () if reason else registry.devices(backend)))
    return infos


@named("best_available_backend")
def best_available_backend() -> Backend:
    """Returns the first backend in AUTO's order that this machine can open. Software adapters do not count."""
    candidates = selection.available(parse_backend(Backend.AUTO))
    return next(filter(registry.opens, candidates), candidates[-1])


def free_memory_of(backend: Backend, device: DeviceInfo | None = None) -> int | None:
    """Returns the free memory (total if free is unknown) of a device of a backend, of its first if `device` is None;
    None if both are unknown."""
    device = device or next(iter(registry.devices(backend)), None)
    if device is None:
        return None
    return (device.total_memory or None) if device.free_memory is None else device.free_memory


def backend_summary() -> str:
    """Returns the text of print_backend_summary()."""
    lines = ["=== Available Backends ==="]
    for info in sorted(backends(), key=lambda info: not info.available):
        lines.append(f"{'✓' if info.available else '✗'} {info.name.name} ({info.type})")
        for device in info.devices:
            lines += [f"    {device}", *_offer(device)]
        if info.reason:
            lines.append(f"    Error: {info.reason}")
    lines += [f"CPU threads: {threads.get_num_threads()}", f"Calibration: {_calibration_summary()}"]
    if offloaded := offload.summary():
        lines.append(offloaded)
    return "\n".join([*lines, "", f"Recommended backend: {best_available_backend().name}"])


def _offer(device: DeviceInfo) -> list[str]:
    """Returns a line with what an adapter offers to compute shaders: features and the size of a buffer."""
    if not device.limits:
        return []
    size = min(device.limits["maxBufferSize"], device.limits["maxStorageBufferBindingSize"])
    features = [name for name in device.features if re.fullmatch(r"shader-[fi]\w+|subgroups", name)]
    return [f"        offers {', '.join([f'buffers of {size / GIGABYTE:.2f} GB', *features])}"]


def _calibration_summary() -> str:
    """Returns a line that describes the calibration and says whether the user's choice overrides it."""
    calibration = selection.calibration_in_use()
    if calibration is None:
        return "none; lw.calibrate() measures which of these is the fastest"
    default = selection.default_backend()
    overridden = "" if default is calibration.backend else f"; overridden by the user: {default.label} is used"
    return f"of {calibration.date}, {calibration.path or 'for this process'}: {calibration.reason()}{overridden}"


def print_backend_summary() -> None:
    """Prints the backends of this machine with their devices, the other ones with the reason why they are missing, the
    number of threads, the result of lw.calibrate() and the recommended backend."""
    print(_encodable(backend_summary()))


def _encodable(text: str) -> str:
    """Returns `text` with + and - for ✓ and ✗ if the console cannot show these."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("✓", "+").replace("✗", "-").encode(encoding, "replace").decode(encoding)
    return text
