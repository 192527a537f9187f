"""Runs one network in ferry and in ONNX Runtime, and says what is wrong."""
import numpy as np
import onnx

from bounds import Reference


class Trial:
    def __init__(self, runner, folder):
        self.runner, self.folder = runner, folder

    def save(self, folder, model, feeds):
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.npy"):
            old.unlink()
        for number, info in enumerate(model.graph.input):
            np.save(folder / f"in{number}.npy", feeds[info.name])

    def run(self, model, feeds, again=None):
        """Returns a kind ("fine", "refused", "failed", "differs", "wrong", "invalid") and a text. `again` are the inputs of
        a second call, of other sizes."""
        try:
            references = [Reference(model, inputs) for inputs in (feeds, again) if inputs is not None]
        except Exception as error:  # of ONNX Runtime, which has types of its own for each
            return "invalid", str(error)
        onnx.save(model, self.folder / "net.onnx")
        self.save(self.folder, model, feeds)
        if again is not None:
            self.save(self.folder / "again", model, again)
        kind, text = self.runner.run(self.folder, *(["again"] if again is not None else []))
        if kind != "fine":
            return kind, text
        for reference, folder in zip(references, (self.folder, self.folder / "again")):
            for number in range(len(model.graph.output)):
                what = reference.wrong(number, np.load(folder / f"out{number}.npy"))
                if what:
                    return "wrong", ("second call: " if folder != self.folder else "") + what
        return "fine", text
