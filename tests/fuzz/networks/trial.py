"""Runs one network in ferry and in ONNX Runtime, and says what is wrong."""
import numpy as np
import onnx
import onnxruntime as ort

from bounds import Reference

# What a call of a size that the network cannot have is refused with.
TOO_SMALL = "must be at least 1"


class Exact:
    """What ONNX Runtime computes, up to rounding errors of single operations."""

    def __init__(self, model, feeds):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        self.results = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)

    def wrong(self, number, got):
        wanted = self.results[number]
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"output {number} is {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
        if np.allclose(got, wanted, rtol=1e-5, atol=1e-6):
            return None
        return f"output {number} is {got.ravel()[:8]}, expected {wanted.ravel()[:8]}"


class EmptyBatch:
    """The shapes of the results of an empty batch, as those of batches of 1 and 2 tell: ONNX Runtime itself divides by 0 in some
    operators, which ends the process."""

    def __init__(self, model, one, two):
        small, large = Exact(model, one).results, Exact(model, two).results
        self.shapes = [tuple(2 * a - b for a, b in zip(x.shape, y.shape)) for x, y in zip(small, large)]

    def wrong(self, number, got):
        return None if got.shape == self.shapes[number] else f"output {number} is {list(got.shape)}, expected {list(self.shapes[number])}"


class Trial:
    def __init__(self, runner, folder):
        self.runner, self.folder = runner, folder

    def save(self, folder, model, feeds):
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.npy"):
            old.unlink()
        for number, info in enumerate(model.graph.input):
            np.save(folder / f"in{number}.npy", feeds[info.name])

    def run(self, model, feeds, again=None, reference_of=Reference, again_of=None):
        """Returns a kind ("fine", "refused", "failed", "differs", "wrong", "invalid") and a text. `again` are the inputs of
        a second call, of other sizes."""
        try:
            references = [reference_of(model, feeds)]
            if again is not None:
                references.append((again_of or reference_of)(model, again))
        except Exception as error:  # of ONNX Runtime, which has types of its own for each
            return "invalid", str(error)
        onnx.save(model, self.folder / "net.onnx")
        self.save(self.folder, model, feeds)
        if again is not None:
            self.save(self.folder / "again", model, again)
        kind, text = self.runner.run(self.folder, *(["again"] if again is not None else []))
        if kind == "failed" and TOO_SMALL in text:
            return "refused", text
        if kind != "fine":
            return kind, text
        for reference, folder in zip(references, (self.folder, self.folder / "again")):
            for number in range(len(model.graph.output)):
                what = reference.wrong(number, np.load(folder / f"out{number}.npy"))
                if what:
                    return "wrong", ("second call: " if folder != self.folder else "") + what
        return "fine", text
