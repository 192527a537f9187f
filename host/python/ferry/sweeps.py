"""Measures a function for a range of sizes or of the knobs of its schedule, as `ferry bench --sweep` does."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union

from ferry import _ferry
from ferry.measurements import _as_call, _rate, pyplot, seconds_text

Range = Union[str, Iterable[object], None]


@dataclass(frozen=True, repr=False)
class Sweep:
    """Measurements of a function, one for each point."""

    over: tuple[str, ...]  # the names of what varies
    measurements: list[_ferry.Measurement]
    failures: list[str]  # why the other points were not measured

    def values(self, measurement: _ferry.Measurement) -> tuple[Any, ...]:
        """What `over` names at a point: sizes are integers, and so are knobs that are numbers."""
        return tuple(_value(measurement, name) for name in self.over)

    def __iter__(self) -> Iterator[_ferry.Measurement]:
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    def __getitem__(self, index: int) -> _ferry.Measurement:
        return self.measurements[index]

    def rows(self) -> list[tuple[str, ...]]:
        """The table as texts: a row of names, then one for each point."""
        shown = [(*self.over, "median", "95% interval", "rate", "warnings")]
        for one in self.measurements:
            low, high = one.interval
            rate = "" if not one.bytes else _rate(one.bytes, one.median, "B")
            shown.append((
                *map(str, self.values(one)), seconds_text(one.median), f"{seconds_text(low)} to {seconds_text(high)}",
                _rate(one.flops, one.median, "FLOP") if one.flops else rate, str(len(one.warnings) or ""),
            ))  # fmt: skip
        return shown

    def __repr__(self) -> str:
        medians = sorted(one.median for one in self.measurements)
        times = f", {seconds_text(medians[0])} to {seconds_text(medians[-1])}" if medians else ""
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"{len(self)} points over {', '.join(self.over)}{times}{failed}"

    def __str__(self) -> str:
        table = self.rows()
        widths = [max(map(len, column)) for column in zip(*table)]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths)).rstrip() for row in table]
        return "\n".join([*lines, *self.failures])

    def _repr_html_(self) -> str:
        names, *points = self.rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in points)
        missing = "".join(f"<p>{html.escape(why)}</p>" for why in self.failures)
        return f"<table><tr>{head}</tr>{body}</table>{missing}"

    def plot(self) -> Any:
        """Draws the medians with their intervals over the first of the names, a line for each value of the others, with
        matplotlib; returns the axes."""
        _, axes = pyplot().subplots()
        lines: dict[tuple[Any, ...], list[_ferry.Measurement]] = {}
        for one in self.measurements:
            lines.setdefault(self.values(one)[1:], []).append(one)
        for others, points in lines.items():
            x = [self.values(one)[0] for one in points]
            label = ", ".join(f"{name}={value}" for name, value in zip(self.over[1:], others))
            axes.plot(x, [one.median * 1e6 for one in points], "o-", label=label or "median")
            low, high = zip(*(one.interval for one in points))
            axes.fill_between(x, [second * 1e6 for second in low], [second * 1e6 for second in high], alpha=0.2)
        numbers = [value for one in self.measurements if isinstance(value := self.values(one)[0], int)]
        if numbers and min(numbers) > 0 and max(numbers) >= 16 * min(numbers):
            axes.set(xscale="log", yscale="log")
        title = self.measurements[0].function if self.measurements else ""
        axes.set(xlabel=self.over[0], ylabel="microseconds a call", title=title)
        axes.legend()
        return axes


def _value(measurement: _ferry.Measurement, name: str) -> int | str:
    if name in measurement.sizes:
        return measurement.sizes[name]
    text = measurement.knobs.get(name, "")
    return int(text) if text.isdecimal() else text


def _range(name: str, values: Range) -> str:
    if values is None:
        return name
    return f"{name}={values}" if isinstance(values, str) else f"{name}={','.join(map(str, values))}"


def sweep(
    function: _ferry.Function,
    over: Mapping[str, Range],
    *,
    sizes: Mapping[str, int] | None = None,
    repeat: int = 40,
    min_repeat_ms: float = 10,
    threads: int = 0,
    cold: bool = False,
    warm: bool = False,
    peak: bool = False,
    seed: int = 0,
) -> Sweep:
    """Compiles and measures a function for each value of sizes and knobs, on the device that has it, with random inputs.

    over: names with values, [64, 100, 4096], or with a range: "2^8..2^24" and "100..6400" double, "100..500+100" adds.
        The name of a knob of the schedule with None stands for all its choices. Several names: all combinations.
    sizes: those that do not vary. The other options are those of Function.bench().
    A point that cannot be measured is among the failures. Raises UsageError for a name that the function does not have,
    and the error of the first point if none can be measured.
    """
    if not over:
        raise ValueError("expected something to vary, such as {'N': '2^8..2^24'}, got nothing")
    ranges = [_range(name, values) for name, values in over.items()]
    with _as_call(function, (), dict(sizes or {}), seed) as call:
        found, failures = _ferry._sweep(function, call, ranges, repeat, min_repeat_ms, threads, cold, warm, peak)
    return Sweep(tuple(over), found, failures)
