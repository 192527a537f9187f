"""The two parts of docs/onnx.md, each written by a test: what became of each case, and what kernels compute."""
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "onnx.md"
KERNELS = "\n## What kernels compute\n"


def definitions():
    return PAGE.read_text().partition(KERNELS)[0]


def write_definitions(text):
    _, heading, kernels = PAGE.read_text().partition(KERNELS)
    PAGE.write_text(text + heading + kernels)


def write_kernels(text):
    PAGE.write_text(definitions() + KERNELS + text)
