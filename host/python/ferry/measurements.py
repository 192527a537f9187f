"""Measuring, checking and comparing functions, and showing the results. Methods of the classes that are written in C++
call functions of this module."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ferry import _ferry


def bench(
    self: _ferry.Function,
    *args: Any,
    repeat: int = 40,
    min_repeat_ms: float = 10,
    threads: int = 0,
    cold: bool = False,
    warm: bool = False,
    peak: bool = True,
    **named: Any,
) -> _ferry.Measurement:
    return _ferry._bench(
        self,
        *args,
        repeat=repeat,
        min_repeat_ms=min_repeat_ms,
        threads=threads,
        cold=cold,
        warm=warm,
        peak=peak,
        **named,
    )


@contextmanager
def _as_call(
    function: _ferry.Function, args: Sequence[Any], sizes: dict[str, int] | None, seed: int
) -> Generator[_ferry._CallOptions, None, None]:
    """The arguments in the words of the command line, with arrays in files."""
    import tempfile

    import numpy as np  # takes longer than the rest of the package, and only what writes files needs it

    inputs = function.inputs
    if len(args) not in (0, len(inputs)):
        raise TypeError(f"expected {len(inputs)} arguments or none, got {len(args)}: {function.signature}")
    with tempfile.TemporaryDirectory(prefix="ferry-call-") as folder:
        words: list[str] = []
        for name, value in zip(inputs, args):
            if np.ndim(value) == 0 and not isinstance(value, (_ferry.Tensor, np.ndarray)):
                words.append(f"{name}={value}")
                continue
            words.append(f"{name}=@{_saved(value, Path(folder) / f'{len(words)}.npy')}")
        yield _ferry._CallOptions.make(words, [f"{name}={size}" for name, size in (sizes or {}).items()], seed)


def _saved(value: Any, file: Path) -> Path:
    import numpy as np

    np.save(file, np.asarray(value))
    return file


def check_results(
    function: _ferry.Function,
    results: Sequence[Any],
    *args: Any,
    random: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> _ferry.CheckReport:
    """Compares what something computed from these arguments, an array for each output, with the definition of the
    function. ferry.testing.assert_close() says what the options mean.
    """
    import tempfile

    with _as_call(function, args, None, 0) as call, tempfile.TemporaryDirectory(prefix="ferry-results-") as folder:
        files = [str(_saved(value, Path(folder) / f"{i}.npy")) for i, value in enumerate(results)]
        return _ferry._check_results(function, call, files, random, rtol, atol)


def check(
    function: _ferry.Function, *args: Any, sizes: dict[str, int] | None = None, thorough: bool = False, seed: int = 0
) -> _ferry.CheckReport:
    """Calls a function once on its device and compares the results with its definition, within bounds of the rounding
    errors that follow from it.

    Without arguments, they are random and as large as `sizes` say. `thorough` adds inputs that show more than these,
    and other sizes.
    """
    with _as_call(function, args, sizes, seed) as call:
        return _ferry._check(function, call, thorough)


def compare(
    a: _ferry.Function,
    b: _ferry.Function,
    args: Sequence[Any] = (),
    *,
    sizes: dict[str, int] | None = None,
    processes: int = 12,
    least_effect: float = 0.01,
    threads: int = 0,
    warm: bool = False,
    seed: int = 0,
) -> _ferry.Comparison:
    """Finds out which of two functions is faster on the device of the first one, as `ferry compare` does: in so many
    sessions, in turns, if both compute the same. A difference below `least_effect`, as a share of the time, is none.
    `threads` and `warm` are those of Function.bench().
    """
    with _as_call(a, args, sizes, seed) as call:
        return _ferry._compare(a, b, call, processes, least_effect, threads, warm)


def seconds_text(seconds: float) -> str:
    """1.5e-06 as "1.50 us": three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:#.3g} {unit}".replace(". ", " ")
    return f"{seconds / 1e-9:#.3g} ns".replace(". ", " ")


def _rate(amount: float, seconds: float, unit: str) -> str:
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if amount / seconds >= scale:
            return f"{amount / seconds / scale:.3g} {prefix}{unit}/s"
    return f"{amount / seconds:.3g} {unit}/s"


def rows(measurement: _ferry.Measurement) -> list[tuple[str, str]]:
    """What is known of a measurement, as names and values for people."""
    low, high = measurement.interval
    sizes = ", ".join(f"{name}={size}" for name, size in measurement.sizes.items())
    shown = [
        ("function", measurement.function + (f", {sizes}" if sizes else "")),
        ("device", f"{measurement.device}, {measurement.processor}"),
        ("median", f"{seconds_text(measurement.median)} [{seconds_text(low)}, {seconds_text(high)}]"),
    ]
    for name, amount, unit, share in (
        ("operations", measurement.flops, "FLOP", measurement.share_of_flops),
        ("memory", measurement.bytes, "B", measurement.share_of_bytes),
    ):
        if amount > 0 and measurement.median > 0:
            of_peak = "" if share is None else f", {share:.0%} of the peak"
            shown.append((name, _rate(amount, measurement.median, unit) + of_peak))
    shown.append(
        ("method", f"inputs {measurement.inputs}, cache {measurement.cache}, isolation {measurement.isolation}")
    )
    if measurement.impossible:
        shown.append(("impossible", measurement.impossible))
    return shown + [("warning", warning) for warning in measurement.warnings]


def line(self: _ferry.Measurement) -> str:
    low, high = self.interval
    interval = f"[{seconds_text(low)}, {seconds_text(high)}]"
    return f"{self.function}: {seconds_text(self.median)} {interval} on {self.processor}"


def html_table(shown: Sequence[tuple[str, str]]) -> str:
    """A table of names and values."""
    import html  # only here, as it takes a while

    body = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in shown)
    return f"<table>{body}</table>"


def table(self: _ferry.Measurement) -> str:
    return html_table(rows(self))


def pyplot() -> Any:
    """matplotlib.pyplot, or an ImportError that says what to install."""
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError("plot() draws with matplotlib, which is not installed: pip install matplotlib") from error


def plot(self: _ferry.Measurement) -> Any:
    _, axes = pyplot().subplots()
    axes.plot([second * 1e6 for second in self.seconds], ".", label="samples")
    axes.axhline(self.median * 1e6, color="black", label="median")
    axes.axhspan(*(second * 1e6 for second in self.interval), alpha=0.2, label="95% interval")
    axes.set(xlabel="sample", ylabel="microseconds a call", title=self.function)
    axes.legend()
    return axes


def checked_line(self: _ferry.CheckReport) -> str:
    return "; ".join(["as defined" if self.is_fine else f"wrong: {self.mistake}", *self.warnings])


def compared_line(self: _ferry.Comparison) -> str:
    return self.difference or self.impossible or self._text(0.01)


def compared_table(self: _ferry.Comparison) -> str:
    a, b = self.medians
    shown = [("a", seconds_text(a)), ("b", seconds_text(b)), ("verdict", compared_line(self))]
    shown += [("warning", warning) for warning in self.warnings]
    return html_table(shown)


def compared_plot(self: _ferry.Comparison) -> Any:
    _, axes = pyplot().subplots()
    axes.plot(self.ratios, "o", label="processes")
    axes.axhline(1, color="black", linewidth=1)
    axes.axhspan(*self.interval, alpha=0.2, label="99% interval")
    axes.set(xlabel="process", ylabel="time of a / time of b")
    axes.legend()
    return axes
