#!/usr/bin/env python3
"""Exports torchvision's networks, transformers and a UNet with seeded weights as ONNX files.

    build/bench/networks/bin/python bench/networks/export.py [--open] FOLDER [NAME ...]

The batch of all networks is open. --open also leaves open the height and width of the images of
torchvision's convolutional networks, and the length of the encoder's text.
Weights are random but sensible: activations keep their scale, so results are neither zeros nor infinities. For each network
it also writes its inputs, NAME.x.npy and perhaps others, and what ONNX Runtime computes from them, NAME.y.npy.
"""
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import torch
import torchvision
from own_networks import Bert, Encoder, Gpt, Prefill, UNet

OPSET = 17
NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "efficientnet_b0", "convnext_tiny"]
TRANSFORMERS = ["encoder", "vit_tiny", "bert_mini", "gpt_step", "prefill512", "prefill1024"]
ALL = [*NETWORKS, *TRANSFORMERS, "unet"]
IMAGE = (1, 3, 224, 224)


def randomize_statistics(network: torch.nn.Module) -> None:
    """Gives batch norms statistics as of a trained network, instead of means of 0 and variances of 1."""
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.1)
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)


def network_and_inputs(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    if name == "encoder":
        return Encoder().eval(), {"x": torch.randint(0, 1000, (1, 128))}
    if name == "bert_mini":
        return Bert().eval(), {"x": torch.randint(0, 30522, (1, 128))}
    if name == "gpt_step":
        past = torch.randn(Gpt.LAYERS, 2, 1, Gpt.HEADS, Gpt.PAST, Gpt.WIDTH // Gpt.HEADS)
        return Gpt().eval(), {"x": torch.randint(0, 8192, (1, 1)), "past": past}
    if name.startswith("prefill"):
        length = int(name.removeprefix("prefill"))
        return Prefill(length).eval(), {"x": torch.randint(0, 8192, (1, length))}
    if name == "vit_tiny":
        network = torchvision.models.VisionTransformer(image_size=224, patch_size=16, num_layers=12, num_heads=3,
                                                       hidden_dim=192, mlp_dim=768)
        # It begins with a head of zeros.
        torch.nn.init.normal_(network.heads.head.weight, 0, 192 ** -0.5)
        return network.eval(), {"x": torch.randn(IMAGE)}
    network = UNet() if name == "unet" else getattr(torchvision.models, name)(weights=None)
    randomize_statistics(network)
    return network.eval(), {"x": torch.randn(IMAGE)}


def export(folder: Path, name: str, is_open: bool) -> None:
    network, inputs = network_and_inputs(name)
    file = folder / f"{name}.onnx"
    batch, result = {"x": {0: "N"}, "past": {2: "N"}}, {0: "N"}
    if is_open and name in NETWORKS:
        batch["x"] |= {2: "H", 3: "W"}
    elif is_open and name == "encoder":
        batch["x"] |= {1: "T"}
        result |= {1: "T"}
    with torch.no_grad():
        torch.onnx.export(network, tuple(inputs.values()), str(file), opset_version=OPSET, dynamo=False,
                          input_names=list(inputs), output_names=["y"],
                          dynamic_axes={"y": result, **{one: batch[one] for one in inputs}})
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    for one, values in inputs.items():
        np.save(folder / f"{name}.{one}.npy", values.numpy())
    values = {one: values.numpy() for one, values in inputs.items()}
    np.save(folder / f"{name}.y.npy", session.run(["y"], values)[0])
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def main() -> int:
    words = sys.argv[1:]
    is_open = words[:1] == ["--open"]
    words = words[is_open:]
    if not words or words[0].startswith("-"):
        sys.exit(__doc__)
    if unknown := set(words[1:]) - set(ALL):
        sys.exit(f"expected some of {', '.join(ALL)}, got {', '.join(sorted(unknown))}")
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in words[1:] or ALL:
        export(folder, name, is_open)
    return 0


if __name__ == "__main__":
    sys.exit(main())
