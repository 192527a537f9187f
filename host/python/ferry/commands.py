"""Runs the command `ferry` for services that are processes of their own: tuning, the gate and export."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from ferry.errors import CompileError, Error, UsageError

Line = Callable[[str], bool]

_SECONDS_TO_END = 30.0  # for giving boards back and reporting what there is after an interrupt


def program() -> str:
    """The command: FERRY_PROGRAM, the one of this package, that of ferry's build, or the one in the path."""
    if named := os.environ.get("FERRY_PROGRAM"):
        return named
    package = Path(__file__).parent
    for candidate in (package / "bin" / "ferry", package.parents[1] / "bin" / "ferry"):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    if found := shutil.which("ferry"):
        return found
    raise Error("there is no command ferry beside the package nor in the path: install the package again")


def pairs(option: str, values: Mapping[str, object] | None) -> list[str]:
    """["--size", "M=4", "--size", "N=5"]"""
    return [word for name, value in (values or {}).items() for word in (option, f"{name}={value}")]


def repeated(option: str, values: Iterable[object]) -> list[str]:
    return [word for value in values for word in (option, str(value))]


def kernel_words(source: object) -> list[str]:
    """A kernel as the command takes it: a text or a file."""
    if isinstance(source, str):
        return ["-e", source]
    if isinstance(source, os.PathLike):
        return [str(os.fspath(source))]  # pyright: ignore[reportUnknownArgumentType]
    raise TypeError(f"expected a text or the path of a file, got {type(source).__name__}")


def _raise(code: int, message: str) -> None:
    text = message.strip().removeprefix("ferry: ")
    if code == 2:
        raise (CompileError if "\n" in text and "^" in text else UsageError)(text)
    error = Error(text or f"ferry ended with {code}")
    error.code = "unavailable" if code == 3 else "internal" if code == 4 else "aborted"
    raise error


def run(words: Sequence[str], *, on_line: Line | None = None, fine: Sequence[int] = (0,), folder: str | None = None) -> str:
    """Runs the command and returns what it prints. Raises the error that it reports unless its exit code is fine.

    on_line: called with each line as it is printed; True ends the command early, as Ctrl-C does, with what it has.
    """
    # A group of its own, so that Ctrl-C in a terminal reaches it once: from here.
    process = subprocess.Popen(
        [program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, process_group=0
    )
    assert process.stdout is not None and process.stderr is not None
    messages: list[str] = []
    reader = threading.Thread(target=lambda pipe: messages.extend(pipe), args=(process.stderr,), daemon=True)
    reader.start()
    printed: list[str] = []
    ended_early = False
    try:
        for line in process.stdout:
            printed.append(line)
            wants_to_end = on_line is not None and on_line(line.rstrip("\n"))
            if wants_to_end and not ended_early:
                ended_early = True
                process.send_signal(signal.SIGINT)
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        reader.join(1)
        process.stdout.close()
        process.stderr.close()
    if (code not in fine and not (ended_early and printed)) or (code != 0 and not printed):
        _raise(code, "".join(messages))
    return "".join(printed)


def _end(process: subprocess.Popen[str]) -> None:
    """Lets the command give back what it has, in the background: whoever interrupted it does not wait for that."""
    process.send_signal(signal.SIGINT)

    def wait() -> None:
        try:
            process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    threading.Thread(target=wait).start()
