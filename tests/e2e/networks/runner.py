"""The program run_networks, which compiles and runs networks on servers that it keeps."""
import subprocess


class Runner:
    """Starts the program again if a network ended it."""

    def __init__(self, program, *words):
        self.words = [program, *words]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)

    def run(self, folder, *words):
        """Returns "fine", "refused", "failed" or "differs", and the text that explains it."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write("\t".join([str(folder), *words]) + "\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            kind, _, text = line.rstrip("\n").partition(" ")
            if kind in ("fine", "refused", "failed", "differs"):
                return kind, text
            said.append(line)
        return "failed", f"run_networks ended with {self.process.wait()}: {''.join(said)[-2000:]}"

    def run_or_bind(self, folder):
        """Runs a case once. If it is refused, its inputs, which may decide shapes, are bound."""
        kind, text = self.run(folder, "once")
        return self.run(folder, "once", "bind") if kind == "refused" else (kind, text)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
