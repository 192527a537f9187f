"""A plugin of pytest that comes with the package.

    def test_product(ferry_device):
        mm = ferry_device.compile(TEXT)["mm"]
        ferry.testing.assert_close(mm(A, B), mm, A, B)

    def test_product_is_as_fast_as_before(ferry_bench):
        ferry_bench(TEXT, sizes={"M": 512, "N": 512, "K": 512}, tolerance=0.02)

ferry_bench compares with the module that the same test has stored before, on the same device, as `ferry gate` does
(docs/gate.md): the first run stores it and passes, later ones fail if the kernel became slower, or computes something else.
"""
from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

import ferry
from ferry.kernels import Kernel, Network
from ferry.verdicts import Verdict, gate


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ferry", "kernels on devices")
    group.addoption("--ferry-device", default="", metavar="ADDRESS", help="the device of ferry_device and ferry_bench: "
                    "as of ferry.connect(); default: FERRY_REMOTE, or this machine")  # fmt: skip
    group.addoption("--ferry-store", default="", metavar="STORE", help="where ferry_bench keeps modules and verdicts: a "
                    "folder or farm://FARM; default: FERRY_GATE_STORE, or .ferry-gate in the root of the tests")  # fmt: skip
    group.addoption("--ferry-baseline", default="main", metavar="NAME", help="the baseline of ferry_bench")
    group.addoption("--ferry-update", action="store_true", help="make the modules of ferry_bench the baseline if nothing "
                    "is wrong with them")  # fmt: skip
    group.addoption("--ferry-trust-baseline", action="store_true", help="run modules that others have stored without "
                    "asking: they are native code")  # fmt: skip


def _address(config: pytest.Config) -> str:
    return str(config.getoption("--ferry-device")) or os.environ.get("FERRY_REMOTE", "")


@pytest.fixture(scope="session")
def ferry_device(request: pytest.FixtureRequest) -> Generator[ferry.Device, None, None]:
    """The device of --ferry-device, in one session for all tests. It is skipped, with the reason, if nobody answers."""
    address = _address(request.config)
    try:
        device = ferry.connect(address)
    except ferry.Error as error:
        if error.code != "unavailable":
            raise
        pytest.skip(f"no device: {error}")
    with device:
        yield device


class Bench:
    """The fixture ferry_bench."""

    def __init__(self, config: pytest.Config, test: str) -> None:
        self._config, self._test, self._calls = config, test, 0

    def __call__(
        self,
        kernel: Any,
        *,
        sizes: Mapping[str, int] | None = None,
        function: str = "",
        schedule: str = "",
        tolerance: float = 0.02,
        inputs: list[str] | None = None,
        name: str = "",
        **keys: Any,
    ) -> Verdict:
        """Fails the test if the kernel is slower than that of the baseline by more than the tolerance, or wrong.

        kernel: a text in ferry's notation, the path of a file, ferry.c() or ferry.onnx().
        sizes: of the call, by name. inputs: as of --arg; random by default. tolerance: a share of the time.
        name: tells several calls in one test apart; by default, their order does.
        keys: others of a suite's cases (docs/gate.md), such as threads=1 or limits={"time": "3ms"}.
        Returns the verdict.
        """
        self._calls += 1
        case = name or ("bench" if self._calls == 1 else f"bench-{self._calls}")
        with tempfile.TemporaryDirectory(prefix="ferry-bench-") as folder:
            entries = {"kernel": self._file(kernel, Path(folder)), "tolerance": f"{tolerance * 100}%", **keys}
            if isinstance(kernel, Kernel):
                entries |= {key: value for key, value in
                            (("signature", kernel.signature), ("cflags", kernel.cflags), ("launch", kernel.launch)) if value}  # fmt: skip
            if isinstance(kernel, Network):
                entries |= {"bindings": list(kernel.bindings), "winograd": kernel.winograd}
            for key, value in (("sizes", [f"{one}={size}" for one, size in (sizes or {}).items()]),
                               ("function", function), ("inputs", inputs)):  # fmt: skip
                if value:
                    entries[key] = value
            if schedule:
                Path(folder, "kernel.schedule").write_text(schedule)
                entries["schedule"] = "kernel.schedule"
            suite = Path(folder, "suite.toml")
            # A suite for each call: others of the test's file would be missing in it, and go from the baseline.
            suite.write_text(f"name = {_toml(_suite_name(self._test, case))}\n\n[cases.{_toml('bench')}]\n" + "".join(
                f"{key} = {_toml(value)}\n" for key, value in entries.items()))  # fmt: skip
            report = gate(
                suite,
                remote=[address] if (address := _address(self._config)) else [],
                store=self._store(),
                baseline=str(self._config.getoption("--ferry-baseline")),
                update=bool(self._config.getoption("--ferry-update")),
                trust_baseline=bool(self._config.getoption("--ferry-trust-baseline")),
            )
        verdict = report.verdicts[0]
        if verdict.verdict == "infrastructure":
            pytest.skip(f"no device: {verdict}")
        if not report.is_fine:
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    def _store(self) -> str:
        given = str(self._config.getoption("--ferry-store")) or os.environ.get("FERRY_GATE_STORE", "")
        return given or str(self._config.rootpath / ".ferry-gate")

    @staticmethod
    def _file(kernel: Any, folder: Path) -> str:
        if isinstance(kernel, str):
            Path(folder, "kernel.tc").write_text(kernel)
            return "kernel.tc"
        return os.path.abspath(kernel.file if isinstance(kernel, (Kernel, Network)) else kernel)


def _suite_name(test: str, case: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{test}-{case}").strip("-")[-60:]


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)


@pytest.fixture
def ferry_bench(request: pytest.FixtureRequest) -> Bench:
    """Compares a kernel with what the same test stored before; pytest's --help lists its options."""
    return Bench(request.config, request.node.nodeid)
