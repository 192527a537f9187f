"""Programs of ferry.te and their schedules. docs/schedules.md shows what each primitive does to the loops."""
# pyright: reportPrivateUsage=false
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from ferry import _ferry
from ferry.intrinsics import Intrinsics


class Knob:
    """A number that a schedule leaves open, with the values to choose from; knob() makes it."""

    def __init__(self, name: str, choices: Sequence[int]) -> None:
        if not choices:
            raise ValueError(f"the knob {name}: expected values to choose from, got none")
        self.name, self.choices = name, tuple(choices)

    def __str__(self) -> str:
        return f"${self.name} in {{{','.join(map(str, self.choices))}}}"


Factor = Union[int, Knob]
Named = Union[str, "Stage", "_ferry.SymbolicTensor"]


def _name_of(stage: Named) -> str:
    return stage if isinstance(stage, str) else stage.name


def knob(name: str, choices: Sequence[int]) -> Knob:
    """A factor of a primitive with several values to choose from. The first applies until Schedule.at() chooses another."""
    return Knob(name, choices)


class Program:
    """A kernel: parameters and what computes the results. te.program() makes it, and ferry.compile() takes it."""

    def __init__(self, program: _ferry._Program, intrinsics: Intrinsics | None = None) -> None:
        self._program = program
        self._intrinsics = intrinsics  # whose functions the program calls

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._program.name

    def schedule(self) -> Schedule:
        """Serial loops of each tensor on its own, in the order of its definition, to start from."""
        return Schedule(self)

    def default_schedule(self, target: str = "host", sizes: Mapping[str, int] | None = None) -> Schedule:
        """The schedule that ferry chooses for a target, and for calls of these sizes as far as they are known."""
        found = _ferry._default_schedule(self._program, target, dict(sizes or {}))
        return Schedule(self, found.text())

    def lower(self, target: str = "host") -> str:
        """The loops of the default schedule, as text."""
        return self.default_schedule(target).lower(target)

    def __repr__(self) -> str:
        return f"<te.Program {self.name}>"


class Schedule:
    """How a program computes its results: directives, each of which is checked as it is added. None changes a result.

    s[C] or s["C"] is the stage that computes C; its methods add directives. One that is not legal raises CompileError,
    and leaves the schedule as it was.
    """

    def __init__(self, program: Program, text: str = "", knobs: Mapping[str, object] | None = None) -> None:
        """The directives of a text are applied one after the other (docs/schedules.md), with these values of its knobs."""
        self.program = program
        self._lines: list[str] = []
        self._knobs: dict[str, list[str]] = {}
        self._values = {name: str(value) for name, value in (knobs or {}).items()}
        self._schedule = _ferry._schedule(program._program)
        for line in text.splitlines():
            if stripped := line.split("#")[0].strip():
                self._apply(stripped)
        if unknown := set(self._values) - set(self._knobs):
            raise ValueError(f"the schedule has no knob {sorted(unknown)[0]!r}, but {sorted(self._knobs)}")

    def _apply(self, line: str) -> None:
        self._knobs = self._schedule.apply(self.text + line, self._values)
        self._lines.append(line)

    def __getitem__(self, stage: Named) -> Stage:
        return Stage(self, _name_of(stage))

    def inline_injective(self) -> Schedule:
        """Computes all tensors that are neither reductions nor results where they are read."""
        self._apply("inline_injective")
        return self

    @property
    def knobs(self) -> dict[str, list[str]]:
        """The knobs by name, with the values to choose from."""
        return dict(self._knobs)

    def at(self, **values: object) -> Schedule:
        """The same schedule with these values of its knobs; the others keep theirs."""
        return Schedule(self.program, self.text, {**self._values, **values})

    @property
    def text(self) -> str:
        """The directives, one a line, with their knobs."""
        return "".join(line + "\n" for line in self._lines)

    @property
    def directives(self) -> str:
        """The directives as they apply: with the chosen values of their knobs."""
        return self._schedule.text()

    def lower(self, target: str = "host", after: str = "") -> str:
        """The loops, as text; those after a pass of the compiler if `after` names one (docs/passes.md)."""
        return self.emit("lower", target, after)

    def emit(self, stage: str, target: str = "host", after: str = "") -> str:
        """A stage of compilation: "lower", "c", "opencl", "cuda", "ptx", "llvm" or "asm"."""
        return self._schedule.emit(stage, target, after)

    def diff(self, other: Schedule | None = None, target: str = "host") -> str:
        """The changes of the loops since another schedule, or since none, as a unified diff; empty: there are none."""
        import difflib  # only here, as it takes a while

        before = (other or self.program.schedule()).lower(target).splitlines(keepends=True)
        after = self.lower(target).splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, "none" if other is None else "before", "after"))

    def compile(self, target: str = "host") -> _ferry.CompiledModule:
        """Compiles on this machine; ferry.compile() does the same."""
        return self._schedule.compile(target)

    def check(
        self, sizes: Mapping[str, int] | None = None, *, seed: int = 0, thorough: bool = False, target: str = ""
    ) -> _ferry.CheckReport:
        """Interprets the loops on random inputs, which finds races and indices out of bounds, and compares the results with
        the definition. No device is needed. `thorough` adds inputs that show more, and other sizes."""
        pairs = [f"{name}={size}" for name, size in (sizes or {}).items()]
        return self._schedule.check(pairs, seed, thorough, target)

    def __repr__(self) -> str:
        return f"<te.Schedule of {self.program.name}: {len(self._lines)} directives>"


class Stage:
    """A tensor of a schedule, whose loops the methods change. Axes are named as the parameters of te.compute()'s function
    and te.reduce_axis() are; those that directives make are named AXIS.outer, AXIS.inner and OUTER.INNER.fused, unless
    `names` say otherwise. All methods raise CompileError for what is not legal."""

    def __init__(self, schedule: Schedule, name: str) -> None:
        self.schedule, self.name = schedule, name

    def apply(self, primitive: str, *arguments: object, names: Sequence[str] = ()) -> Stage:
        """Any primitive by its name (docs/schedules.md), with its arguments and the names of what it makes."""
        words = [primitive, *map(str, arguments)]
        self.schedule._apply(f"{self.name}: {' '.join(words)}" + (f" -> {' '.join(names)}" if names else ""))
        return self

    def _new_stage(self, suffix: str, primitive: str, *arguments: object) -> Stage:
        text, name, number = self.schedule.text, f"{self.name}.{suffix}", 1
        while f"-> {name}\n" in text:
            number += 1
            name = f"{self.name}.{suffix}{number}"
        self.apply(primitive, *arguments, names=[name])
        return Stage(self.schedule, name)

    def split(self, axis: str, factor: Factor, names: tuple[str, str] | None = None) -> tuple[str, str]:
        """Into a loop of `factor` iterations and one around it. Returns the names of the outer and the inner one."""
        self.apply("split", axis, factor, names=names or ())
        return names or (f"{axis}.outer", f"{axis}.inner")

    def split_parts(self, axis: str, parts: Factor, names: tuple[str, str] | None = None) -> tuple[str, str]:
        """Into `parts` iterations of an outer loop."""
        self.apply("split", axis, "nparts", parts, names=names or ())
        return names or (f"{axis}.outer", f"{axis}.inner")

    def tile(self, y: str, x: str, y_factor: Factor, x_factor: Factor) -> tuple[str, str, str, str]:
        """Splits two axes and moves the inner loops inside. Returns y.outer, x.outer, y.inner, x.inner."""
        self.apply("tile", y, x, y_factor, x_factor)
        return f"{y}.outer", f"{x}.outer", f"{y}.inner", f"{x}.inner"

    def fuse(self, outer: str, inner: str, name: str = "") -> str:
        """Two loops into one. Returns its name."""
        self.apply("fuse", outer, inner, names=[name] if name else ())
        return name or f"{outer}.{inner}.fused"

    def reorder(self, *axes: str) -> Stage:
        """Puts these loops in this order, the outermost first."""
        return self.apply("reorder", *axes)

    def parallel(self, axis: str) -> Stage:
        """Runs the iterations on several threads."""
        return self.apply("parallel", axis)

    def vectorize(self, axis: str, reduce: bool = False) -> Stage:
        """Runs the iterations in the lanes of vectors; with `reduce`, lanes hold partial results of a reduction."""
        return self.apply("vectorize", axis, *(["reduce"] if reduce else []))

    def unroll(self, axis: str) -> Stage:
        """Repeats the body in place of the loop, which has a constant number of iterations."""
        return self.apply("unroll", axis)

    def bind(self, axis: str, place: str) -> Stage:
        """Gives the iterations to the blocks or threads of a GPU, "blockIdx.x" to "threadIdx.z", or to "vthread"."""
        return self.apply("bind", axis, place)

    def compute_at(self, reader: Named, axis: str) -> Stage:
        """Computes what a reader needs inside one of its loops."""
        return self.apply("compute_at", _name_of(reader), axis)

    def store_at(self, reader: Named, axis: str = "") -> Stage:
        """Keeps what is computed for longer: at an outer loop of the reader, or, as store_at("root"), for the whole call."""
        name = _name_of(reader)
        return self.apply("store_at", name, *([axis] if axis else []))

    def compute_inline(self) -> Stage:
        """Computes each element where it is read."""
        return self.apply("compute_inline")

    def compute_root(self) -> Stage:
        """Computes all of it before its readers."""
        return self.apply("compute_root")

    def cache_read(self, scope: str, readers: Sequence[Named] = ()) -> Stage:
        """A copy in a scope ("local", "shared", ...) that the readers read. Returns the stage of the copy."""
        names = [_name_of(reader) for reader in readers]
        return self._new_stage(scope, "cache_read", scope, *names)

    def cache_write(self, scope: str) -> Stage:
        """Computes in a scope and copies to the result. Returns the stage that computes."""
        return self._new_stage(scope, "cache_write", scope)

    def set_scope(self, scope: str) -> Stage:
        """Keeps the tensor in "global", "local", "register" or "shared" memory."""
        return self.apply("set_scope", scope)

    def transform_layout(self, layout: str) -> Stage:
        """Keeps the elements in another order: "(n, c) -> (n, c / 16, c % 16)"."""
        return self.apply("transform_layout", layout)

    def pad(self, axis: str, factor: Factor) -> Stage:
        """Makes the size of a dimension a multiple."""
        return self.apply("pad", axis, factor)

    def storage_align(self, axis: str, factor: Factor, offset: int = 0) -> Stage:
        """Makes the stride of a dimension a multiple of `factor` plus `offset`, in elements."""
        return self.apply("storage_align", axis, factor, offset)

    def swizzle(self) -> Stage:
        """Permutes the elements of rows in shared memory, so that threads in a column use different banks."""
        return self.apply("swizzle")

    def double_buffer(self, copies: int = 2) -> Stage:
        """Computes the stage that many iterations less one ahead of its reader."""
        return self.apply("double_buffer", copies)

    def nontemporal_stores(self) -> Stage:
        """Stores past the caches."""
        return self.apply("nontemporal_stores")

    def rfactor(self, axis: str) -> Stage:
        """Partial results for each iteration of an axis of the reduction. Returns their stage."""
        return self._new_stage("rf", "rfactor", axis)

    def flip(self, tensor: Named) -> Stage:
        """Exchanges the operands of a product (docs/schedules.md)."""
        return self.apply("flip", _name_of(tensor))

    def prefetch(self, tensor: Named, axis: str, offset: Factor) -> Stage:
        """Fetches what iterations read that many iterations later."""
        return self.apply("prefetch", _name_of(tensor), axis, offset)

    def tensorize(self, axis: str, intrinsic: str) -> Stage:
        """Replaces the loops from an axis inward by an instruction, "dot", or a function of te.Intrinsics.tensor()."""
        return self.apply("tensorize", axis, intrinsic)

    def pragma(self, axis: str, key: str, value: int) -> Stage:
        """A hint for the compiler about a loop, such as "auto_unroll_max_step"."""
        return self.apply("pragma", axis, key, value)
