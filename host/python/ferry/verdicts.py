"""Says which kernels of a suite became slower than those of a baseline, as `ferry gate` does (docs/gate.md)."""
from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferry import commands
from ferry.measurements import seconds_text

FINE = ("unchanged", "first", "no_change", "faster")  # those that let a run pass


@dataclass(frozen=True)
class Verdict:
    """The verdict of the gate on one case on one board."""

    case: str
    board: str
    verdict: str  # "unchanged", "first", "no_change", "faster", "slower", "wrong", "over_limit", "failed", ...
    reason: str  # a sentence; empty where the verdict says it all
    ratio: float | None  # the time now over that of the baseline; None: it was not measured
    interval: tuple[float | None, float | None]
    seconds: float | None  # a call now
    baseline_seconds: float | None
    data: dict[str, Any] = field(repr=False)  # all that the report says of it (docs/gate.schema.json)

    @property
    def is_fine(self) -> bool:
        """Whether the verdict lets the run pass; the suite may also let "cannot_tell" pass."""
        return self.verdict in FINE

    def __str__(self) -> str:
        times = ""
        if self.seconds is not None and self.baseline_seconds is not None:
            times = f", {seconds_text(self.baseline_seconds)} -> {seconds_text(self.seconds)}"
        return f"{self.case} on {self.board}: {self.verdict}" + times + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class GateReport:
    """The verdicts of a run, in the order of the suite."""

    verdicts: list[Verdict]
    exit_code: int  # as `ferry gate` ends: 0 fine, 1 slower or wrong, 2 a mistake, 3 no board, 5 cannot tell
    data: dict[str, Any] = field(repr=False)  # the whole report (docs/gate.schema.json)

    @property
    def is_fine(self) -> bool:
        """Whether the run passes."""
        return self.exit_code == 0

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __getitem__(self, case: str) -> Verdict:
        """The verdict of a case, on the first of its boards."""
        for verdict in self.verdicts:
            if verdict.case == case:
                return verdict
        raise KeyError(f"there is no case {case!r}, but {sorted({one.case for one in self.verdicts})}")

    def __str__(self) -> str:
        return "\n".join(map(str, self.verdicts))

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th>{html.escape(one.case)}</th><td>{html.escape(one.board)}</td><td>{html.escape(one.verdict)}</td>"
            f"<td>{'' if one.ratio is None else f'{one.ratio:.3f}'}</td><td>{html.escape(one.reason)}</td></tr>"
            for one in self.verdicts
        )
        return f"<table>{body}</table>"

    def plot(self) -> Any:
        """Draws the ratio of each case that was measured, with its interval, with matplotlib; returns the axes."""
        from ferry.measurements import pyplot

        _, axes = pyplot().subplots()
        measured = [one for one in self.verdicts if one.ratio is not None]
        for row, one in enumerate(measured):
            axes.plot([one.ratio], [row], "o", color="black")
            axes.plot([end for end in one.interval if end is not None], [row] * sum(e is not None for e in one.interval))
        axes.axvline(1, color="black", linewidth=1)
        axes.set_yticks(range(len(measured)), [one.case for one in measured])
        axes.set(xlabel="time / time of the baseline")
        return axes


def _verdict(case: dict[str, Any]) -> Verdict:
    change = case["change"] or {}
    return Verdict(
        case["name"], case["board"], case["verdict"], case["reason"] or "", change.get("ratio"),
        (change.get("low"), change.get("high")), case["current"]["seconds"], case["baseline"]["seconds"], case,
    )  # fmt: skip


def gate(
    suite: Any,
    *,
    remote: str | Sequence[str] = (),
    baseline: str = "main",
    store: str = "",
    update: bool = False,
    cases: Sequence[str] = (),
    accept: Sequence[str] = (),
    label: str = "",
    trust_baseline: bool = False,
    junit: str = "",
    html: str = "",
    key_file: str = "",
) -> GateReport:
    """Runs the cases of a suite against the modules of a baseline, in turns on the same board.

    suite: the path of suite.toml. A case without a baseline passes, and becomes it.
    remote: the address of a board or of several; without one, what the suite says, or this machine.
    store: a folder or "farm://FARM"; without one, at the farm of the boards, or .ferry-gate.
    update: makes the modules the baseline if nothing is wrong. accept: these cases' modules, whatever is.
    cases: only these. label: the commit that is measured. trust_baseline: runs what others have stored without asking.
    junit, html: files that reports are written to.
    Returns the verdicts, whatever they are. Raises UsageError if the suite cannot be read.
    """
    words = ["gate", str(suite), "--json", "--baseline", baseline]
    words += commands.repeated("--remote", [remote] if isinstance(remote, str) else remote)
    words += commands.repeated("--case", cases) + commands.repeated("--accept", accept)
    for option, value in (("--store", store), ("--label", label), ("--junit", junit), ("--html", html),
                          ("--key-file", key_file)):  # fmt: skip
        words += [option, value] if value else []
    words += (["--update"] if update else []) + (["--trust-baseline"] if trust_baseline else [])
    data = json.loads(commands.run(words, fine=(0, 1, 2, 3, 5)))
    return GateReport([_verdict(case) for case in data["cases"]], data["exit_code"], data)
