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


class Encoder(torch.nn.Module):
    """Six layers of 384, with 12 heads, over 128 tokens."""

    def __init__(self):
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(384, 12, 1536, activation="gelu", batch_first=True, norm_first=True)
        self.embedding = torch.nn.Embedding(1000, 384)
        self.layers = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)

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
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or [*NETWORKS, "encoder"]:
        export(folder, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
