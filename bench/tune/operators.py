"""The kernels of operators.tc for comparisons: their tensors, and what NumPy computes."""
import numpy as np

# The function, and its sizes.
CASES = [
    ("product", "M=512,N=512,K=512"),
    ("product", "M=1024,N=64,K=1024"),
    ("convolution", "C=64,O=64,S=56"),
    ("convolution", "C=256,O=256,S=14"),
    ("pointwise", "C=128,O=128,S=28"),
    ("depthwise", "C=512,S=14"),
    ("softmax", "M=1024,N=1024"),
    ("layer_norm", "M=1024,N=1024"),
    ("relu_add", "N=1048576"),
    ("batch_product", "B=12,M=128,N=128,K=64"),
]
RESULTS = {"product": "C", "batch_product": "Z"}  # others: Y
SEED = 7


def sizes_of(text):
    return {name: int(value) for name, value in (part.split("=") for part in text.split(","))}


def shapes_of(kernel, sizes):
    """Returns the shapes of the inputs by name, in the order of the parameters."""
    s = sizes.get
    return {
        "product": {"A": (s("M"), s("K")), "B": (s("K"), s("N"))},
        "batch_product": {"X": (s("B"), s("M"), s("K")), "Y": (s("B"), s("K"), s("N"))},
        "convolution": {"I": (1, s("C"), s("S"), s("S")), "K": (s("O"), s("C"), 3, 3)},
        "pointwise": {"I": (1, s("C"), s("S"), s("S")), "K": (s("O"), s("C"))},
        "depthwise": {"I": (1, s("C"), s("S"), s("S")), "K": (s("C"), 3, 3)},
        "softmax": {"A": (s("M"), s("N"))},
        "layer_norm": {"A": (s("M"), s("N")), "scale": (s("N"),), "shift": (s("N"),)},
        "relu_add": {"A": (s("N"),), "B": (s("N"),)},
    }[kernel]


def inputs_of(kernel, sizes):
    random = np.random.default_rng(SEED)
    return {name: random.uniform(-1, 1, shape).astype("float32") for name, shape in shapes_of(kernel, sizes).items()}


def windows(image):
    """Returns the 3x3 windows of an image with zeros around it: (n, c, h, w, i, j)."""
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))


def reference_of(kernel, sizes, inputs):
    a, *others = (value.astype("float64") for value in inputs.values())
    if kernel in ("product", "batch_product"):
        result = a @ others[0]
    elif kernel == "convolution":
        result = np.einsum("nchwij,ocij->nohw", windows(a), others[0], optimize=True)
    elif kernel == "pointwise":
        result = np.einsum("nchw,oc->nohw", a, others[0], optimize=True)
    elif kernel == "depthwise":
        result = np.einsum("nchwij,cij->nchw", windows(a), others[0], optimize=True)
    elif kernel == "softmax":
        e = np.exp(a - a.max(axis=1, keepdims=True))
        result = e / e.sum(axis=1, keepdims=True)
    elif kernel == "layer_norm":
        centered = a - a.mean(axis=1, keepdims=True)
        result = centered / np.sqrt((centered ** 2).mean(axis=1, keepdims=True) + 1e-5) * others[0] + others[1]
    else:
        result = np.maximum(a + others[0], 0)
    return result.astype("float32")
