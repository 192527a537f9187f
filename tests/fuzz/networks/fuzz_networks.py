"""fuzz_networks.py RUN_NETWORKS [--minutes N | --cases N] [--seed S] [--save FOLDER] [--refusals]
[--at-least N]: compares random networks in ferry with ONNX Runtime. Prints each failure and, at the end, how many there were.
Fewer than N networks that both compute alike are a failure too.

A failure is made as small as possible and saved: net.onnx with its inputs. A case of the same seed is the same network.
"""
import argparse
import collections
import re
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx

from bounds import Reference
from conditions import conditional
from detectors import detector
from generate import feeds, generate
from runner import Runner
from shrink import shrink
from trial import EmptyBatch, Exact, Trial

# One of so many networks ends in results that are as long as data say, and one has control flow that depends on data.
EXACT = 10
# And of so many, those of these numbers have images of open height and width, which are greater by at most so much in the second
# call.
OPEN_SPACE, MORE = (1, 6), 9


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", type=Path, default=Path("build/fuzz_networks"))
    parser.add_argument("--refusals", action="store_true")
    parser.add_argument("--at-least", type=int, default=0)
    options = parser.parse_args()
    if options.minutes is None and options.cases is None:
        options.cases = 100
    return options


def reason(text):
    """A message without names and numbers, so that equal ones are counted together."""
    text = re.sub(r"'[^']*'", "'...'", text.splitlines()[0] if text else "")
    return re.sub(r"\d+", "#", text)[:160]


class Fuzzer:
    def __init__(self, options, folder):
        self.options = options
        self.trial = Trial(Runner(options.program), folder)
        self.counts, self.refusals, self.seen = collections.Counter(), collections.Counter(), collections.Counter()
        self.nodes = 0

    def exact(self, seed, model, first, again):
        kind, text = self.trial.run(model, first, again, Exact)
        self.count(seed, kind, text, model)
        if kind in ("failed", "differs", "wrong"):
            self.save(seed, model, first, again, Exact)

    def count(self, seed, kind, text, model):
        self.counts[kind] += 1
        self.nodes += len(model.graph.node)
        if kind in ("refused", "invalid"):
            self.refusals[kind + ": " + reason(text)] += 1
        if kind != "fine" and (self.options.refusals or kind not in ("refused", "invalid")):
            print(f"seed {seed} {kind}: {text}", flush=True)

    def one(self, seed):
        if seed % EXACT in (3, 8):
            self.exact(seed, *(detector if seed % EXACT == 3 else conditional)(seed))
            return
        opens_space = seed % EXACT in OPEN_SPACE
        net, outputs = generate(seed, opens_space)
        if not outputs:
            return
        model = net.model(outputs)
        random = np.random.default_rng(seed)
        first = feeds(net, net.batch, random)
        if net.batch and seed % 8 == 6 and not opens_space:
            one, two, none = (feeds(net, batch, random) for batch in (1, 2, 0))
            kind, text = self.trial.run(model, first, none, again_of=lambda same, _: EmptyBatch(same, one, two))
            self.count(seed, kind, text, model)
            if kind in ("failed", "differs", "wrong"):
                self.save(seed, model, first, none, Reference)
            return
        again = feeds(net, (net.batch or 0) % 4 + 1, random, MORE) if net.batch or opens_space else None
        kind, text = self.trial.run(model, first, again)
        self.count(seed, kind, text, model)
        if kind in ("failed", "differs", "wrong"):
            self.shrink(seed, kind, text, model, first, again)

    def shrink(self, seed, kind, text, model, first, again):
        alike = reason(text) if kind == "failed" else None

        def fails(candidate, inputs, second):
            found, said = self.trial.run(candidate, inputs, second)
            return found == kind and (alike is None or reason(said) == alike)

        self.save(seed, *shrink(model, first, again, fails), Reference)

    def save(self, seed, model, first, again, reference_of):
        """Saves a failure, and runs it again unless one of its calls has an empty batch."""
        folder = self.options.save / f"seed{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        saved = Trial(self.trial.runner, folder)
        if reference_of is Reference and again is not None and any(0 in value.shape for value in again.values()):
            onnx.save(model, folder / "net.onnx")
            saved.save(folder, model, first)
            saved.save(folder / "again", model, again)
            print(f"  in {folder}/net.onnx", flush=True)
            return
        _, text = saved.run(model, first, again, reference_of)
        nodes = ", ".join(node.op_type for node in model.graph.node)
        print(f"  in {folder}/net.onnx ({nodes}): {text}", flush=True)

    def run(self):
        start, seed = time.time(), self.options.seed
        while (time.time() - start < 60 * self.options.minutes if self.options.minutes is not None
               else seed < self.options.seed + self.options.cases):
            self.one(seed)
            seed += 1
        self.trial.runner.close()
        for text, count in self.refusals.most_common(40 if self.options.refusals else 10):
            print(f"{count:6} {text}")
        failures = sum(self.counts[kind] for kind in ("failed", "differs", "wrong"))
        print(f"seeds {self.options.seed} to {seed - 1}: {self.nodes} nodes, {self.counts['fine']} fine, "
              f"{self.counts['refused']} refused, {self.counts['invalid']} not run by ONNX Runtime, {failures} failures")
        if self.counts["fine"] < self.options.at_least:
            print(f"expected at least {self.options.at_least} networks to be fine")
            return 1
        return 1 if failures else 0


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(Fuzzer(options, Path(folder)).run())


if __name__ == "__main__":
    main()
