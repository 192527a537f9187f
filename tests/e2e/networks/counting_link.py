"""A link to a server on this machine that counts the bytes that clients send."""
import contextlib
import socket
import threading


class CountingLink:
    """Forwards connections to a server."""

    def __init__(self, server_address):
        self.server = ("127.0.0.1", int(server_address.rsplit(":", 1)[1]))
        self.sent = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(self.server)
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source, target, counts):
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                if counts:
                    self.sent += len(piece)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
