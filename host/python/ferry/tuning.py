"""Searches for the fastest schedule of a kernel on a device, as `ferry tune` does (docs/tuning.md)."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferry import commands
from ferry.measurements import html_table, seconds_text


@dataclass(frozen=True)
class Trial:
    """A schedule that was tried."""

    function: str
    outcome: str  # "measured", "refused", "crashed", "hung", "wrong" or "too_slow"
    point: str  # the values of the knobs, for compile(point=...)
    seconds: float | None  # a call; None: it was not measured
    reason: str  # why it was not
    elapsed: float  # seconds since the search began
    best: float | None  # seconds a call of the best so far
    default: float | None  # seconds a call of the default schedule


@dataclass(frozen=True)
class Tuned:
    """The result of a search."""

    function: str
    is_faster: bool  # than the default schedule, as a comparison in fresh processes says
    ratio: float | None  # times as fast as the default; None: it was not compared
    interval: tuple[float, float] | None  # the 99% interval of the ratio
    point: str  # the best schedule, for compile(point=...); empty: the default's, or a network
    seconds: float | None  # a call with the best schedule
    default_seconds: float | None
    records: str  # the file of records, from which other commands take the best schedule
    is_interrupted: bool
    trials: list[Trial] = field(repr=False)
    data: dict[str, Any] = field(repr=False)  # what `ferry tune --json` printed last (docs/json.md)

    def __repr__(self) -> str:
        if self.ratio is None:
            return f"{self.function}: {len(self.trials)} trials, not compared with the default schedule"
        what = "faster than" if self.is_faster else "not faster than"
        low, high = self.interval or (self.ratio, self.ratio)
        return f"{self.function}: {what} the default schedule, {self.ratio:.2f} times [{low:.2f}, {high:.2f}]"

    def _repr_html_(self) -> str:
        shown = [("verdict", repr(self)), ("trials", str(len(self.trials))), ("point", self.point.strip())]
        if self.seconds is not None:
            shown.insert(1, ("best", seconds_text(self.seconds)))
        if self.default_seconds is not None:
            shown.insert(1, ("default", seconds_text(self.default_seconds)))
        return html_table(shown)

    def plot(self) -> Any:
        """Draws the trials and the best over time, with matplotlib; returns the axes."""
        from ferry.measurements import pyplot

        _, axes = pyplot().subplots()
        tried = [trial for trial in self.trials if trial.seconds is not None]
        axes.plot([one.elapsed for one in tried], [(one.seconds or 0) * 1e6 for one in tried], ".", label="trials")
        best = [trial for trial in self.trials if trial.best is not None]
        axes.step([one.elapsed for one in best], [(one.best or 0) * 1e6 for one in best], where="post", label="best")
        if self.default_seconds is not None:
            axes.axhline(self.default_seconds * 1e6, color="black", linewidth=1, label="default")
        axes.set(xlabel="seconds", ylabel="microseconds a call", title=self.function)
        axes.legend()
        return axes


def _trial(data: Mapping[str, Any]) -> Trial:
    progress = data["progress"]
    return Trial(
        data["function"], data["outcome"], data.get("point", ""), data.get("seconds"), data.get("reason", ""),
        progress["elapsed_seconds"], progress.get("best_seconds"), progress.get("default_seconds"),
    )  # fmt: skip


def tune(
    source: Any,
    *,
    sizes: Mapping[str, int],
    remote: str | Sequence[str] = (),
    budget: float = 60,
    trials: int | None = None,
    on_trial: Callable[[Trial], object] | None = None,
    records: str = "",
    function: str = "",
    schedule: str = "",
    threads: int = 0,
    processes: int = 12,
    searcher: str = "",
    key_file: str = "",
) -> Tuned:
    """Tries schedules of a kernel, or of the kernels of a network, on a device, and compares the best with the default.

    source: a text in ferry's notation, or the path of a file.
    sizes: those of the calls for which it is tuned.
    remote: the address of a device, or those of several of one kind, which share the work; without one, this machine.
    budget: how long it may take, in seconds; 0: until it is interrupted. trials: how many schedules at most.
    on_trial: called with each trial as it ends; the search ends early, and the best is compared, if it returns True.
    records: the file that results are added to, from which other commands take them; your own by default.
    schedule: directives with knobs to be tuned, in place of the default schedule's space.
    processes: in which the best is compared with the default; 0: it is not.
    searcher: a command that decides what is tried (docs/tuning_search.md).
    Raises UsageError and CompileError for mistakes, and Error with the code "unavailable" if there is no device.
    """
    remotes = [remote] if isinstance(remote, str) else list(remote)
    found: list[Trial] = []
    last: dict[str, Any] = {}

    def take(line: str) -> bool:
        data = json.loads(line)
        if data["schema"] != "ferry.trial/1":
            last.update(data)
            return False
        found.append(_trial(data))
        return on_trial is not None and on_trial(found[-1]) is True

    words = ["tune", *commands.kernel_words(source), "--json", "--budget", f"{budget}s", "--processes", str(processes)]
    words += commands.pairs("--size", sizes) + commands.repeated("--remote", remotes)
    for option, value in (("--fn", function), ("--records", records), ("--schedule-text", schedule),
                          ("--searcher", searcher), ("--key-file", key_file)):  # fmt: skip
        words += [option, value] if value else []
    words += ["--trials", str(trials)] if trials is not None else []
    words += ["--threads", str(threads)] if threads else []
    commands.run(words, on_line=take, fine=(0, 130))
    progress = last.get("progress", {})
    interval = last.get("ratio_interval_99")
    return Tuned(
        last.get("function", ""), last.get("is_faster", False), last.get("ratio"),
        (interval[0], interval[1]) if interval else None, last.get("point", ""),
        last.get("seconds", progress.get("best_seconds")), last.get("default_seconds", progress.get("default_seconds")),
        last.get("records", records), last.get("is_interrupted", False) or not last, found, last,
    )  # fmt: skip
