"""Starts servers on this machine."""
import subprocess
from pathlib import Path


class Server:
    """A server on this machine, with a folder of its own."""

    def __init__(self, rpc_server, folder, *options):
        self.process = subprocess.Popen([rpc_server, "--port", "0", "--host", "127.0.0.1", "--workdir", folder,
                                         *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def sessions(self):
        return [int(word) for word in
                Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()]
