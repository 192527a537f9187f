#!/usr/bin/env python3
"""Exports torchvision's networks, and an encoder, with seeded weights as ONNX files.

    build/bench/networks/bin/python bench/networks/export.py FOLDER [NAME ...]

Weights are random but sensible: activations keep their scale, so results are neither zeros nor infinities. For each network
it also writes an input, NAME.x.npy, and what ONNX Runtime computes from it, NAME.y.npy.
"""
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
import torchvision

OPSET = 17
NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1"]
IMAGE = (1, 3, 224, 224)


class EncoderLayer(torch.nn.Module):
    """Attention and a feed-forward part, each behind a layer norm and beside a shortcut."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm1(x)
        query, key, value = (
            linear(y).reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for linear in (self.query, self.key, self.value))
        weights = torch.softmax(query @ key.transpose(2, 3) * (width // self.heads) ** -0.5, -1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


class Encoder(torch.nn.Module):
    """Six layers of 384, with 12 heads, over 128 tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, 384)
        self.layers = torch.nn.Sequential(*(EncoderLayer(384, 12) for _ in range(6)))

    def forward(self, tokens):
        return self.layers(self.embedding(tokens))


def randomize_statistics(network: torch.nn.Module) -> None:
    """Gives batch norms statistics as of a trained network, instead of means of 0 and variances of 1."""
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.1)
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)


def network_and_input(name: str) -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    if name == "encoder":
        return Encoder().eval(), torch.randint(0, 1000, (1, 128))
    network = getattr(torchvision.models, name)(weights=None).eval()
    randomize_statistics(network)
    return network, torch.randn(IMAGE)


def export(folder: Path, name: str) -> None:
    network, x = network_and_input(name)
    file = folder / f"{name}.onnx"
    with torch.no_grad():
        torch.onnx.export(network, (x,), str(file), opset_version=OPSET, dynamo=False, input_names=["x"],
                          output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    np.save(folder / f"{name}.x.npy", x.numpy())
    np.save(folder / f"{name}.y.npy", session.run(["y"], {"x": x.numpy()})[0])
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    if unknown := set(sys.argv[2:]) - {*NETWORKS, "encoder"}:
        sys.exit(f"expected {', '.join(NETWORKS)} or encoder, got {', '.join(sorted(unknown))}")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*NETWORKS, "encoder"]:
        export(folder, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
