"""memory_test.py FERRY RPC_SERVER ARENA_SIZES: networks keep in memory what their calls need."""
import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import models
import onnx
from server import Server

FERRY, RPC_SERVER, ARENA_SIZES = (sys.argv.pop(1) for _ in range(3))
MIB = 1 << 20


def fields(process, file):
    """The sizes in a file of /proc, in bytes."""
    lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.endswith(" kB")}


def memory_of_session(ferry, rpc_server, network, *options, seconds=1.5):
    """Benches a network without open sizes for a while. Returns the proportional set size of its session between calls, the
    session's peak, and what the module says: the bytes of persistent buffers and of workspaces."""
    with tempfile.TemporaryDirectory() as folder, Server(rpc_server, folder) as server:
        module = f"{folder}/net.ferry"
        subprocess.run([ferry, "compile", network, *options, "-o", module], check=True, capture_output=True)
        [function] = json.loads(subprocess.run([ferry, "inspect", module, "--json"], check=True, capture_output=True,
                                               text=True).stdout)["functions"]
        result = Path(folder) / "result.json"
        with result.open("w") as out:
            bench = subprocess.Popen([ferry, "bench", module, "--remote", server.address, "--no-peak", "--tolerance", "0.001",
                                      "--max-repeat", "50000", "--timeout-ms", str(int(seconds * 1000)), "--json"],
                                     stdout=out, stderr=subprocess.PIPE, text=True)
        found = []
        while bench.poll() is None:
            try:
                for session in server.sessions():
                    found.append((fields(session, "smaps_rollup")["Pss"], fields(session, "status")["VmHWM"]))
            except (FileNotFoundError, ProcessLookupError, KeyError):
                pass  # it has just ended
            time.sleep(0.02)
        message = bench.stderr.read()
        bench.stderr.close()
        if bench.returncode != 0:
            raise RuntimeError(message)
        measured = json.loads(result.read_text())["results"][0]
        # Where processes can be isolated, init plans are too.
        if measured["method"]["isolation"] != "none" and measured["environment"]["not_isolated"]:
            raise RuntimeError(f"expected an isolated measurement, got {measured['environment']['not_isolated']}")
        if len(found) < 24:
            raise RuntimeError(f"expected samples of the session's memory while it is called, got {len(found)}")
        # The first samples are of a session that loads the module and binds it, the last may be of one that ends.
        steady = max(pss for pss, _ in found[-12:-2])
        return steady, max(peak for _, peak in found), sum(map(int, function["persistent"])), sum(map(int, function["workspaces"]))


class MemoryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def save(self, model):
        path = self.folder / f"{model.graph.name}.onnx"
        onnx.save(model, path)
        return path

    def test_a_session_keeps_packed_weights_and_an_arena_but_not_the_original_weights(self):
        layers = 16
        net = models.Network("wide", [1, 256, 6, 6], opset=13)
        x = "x"
        for _ in range(layers):
            x = net.relu(net.conv(x, 256, 256, 3, padding=1))
        network = self.save(net.model(x))
        steady, peak, packed, workspaces = memory_of_session(FERRY, RPC_SERVER, network, "--winograd", "off")
        weights = layers * 256 * 256 * 9 * 4
        self.assertGreaterEqual(packed, weights)
        self.assertGreater(peak, packed)
        # Besides them there are the server itself, code, arguments and the manifest.
        self.assertLess(steady, packed + 1.15 * workspaces + 8 * MIB)
        # While weights are packed, those of a layer leave memory as soon as they are. The peak counts pages of libraries
        # that other processes share.
        self.assertLess(peak, packed + 1.15 * workspaces + 14 * MIB)

    def test_arenas_are_little_larger_than_what_is_needed_at_once(self):
        networks = [self.save(model) for model in
                    (models.resnet18(), models.resnet50_stage(), models.mobilenet_v2(), models.mobilenet_v3_small(),
                     models.squeezenet(), models.encoder(length=128))]
        for target in ("x86-64-v4", "raspberry-pi-4", "riscv64"):
            printed = subprocess.run([ARENA_SIZES, target, *networks], check=True, capture_output=True, text=True).stdout
            lines = printed.splitlines()
            self.assertEqual(len(lines), len(networks))
            for network, line in zip(networks, lines):
                with self.subTest(target=target, network=network.stem):
                    arena, needed = map(int, line.split())
                    self.assertGreater(needed, 0)
                    self.assertGreaterEqual(arena, needed)
                    self.assertLessEqual(arena, 1.15 * needed)


if __name__ == "__main__":
    unittest.main()
