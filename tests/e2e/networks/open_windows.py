"""Networks whose windows and transforms move over open images and signals."""
import numpy as np
from open_sizes import case

IMAGES = [[(1, 4, 5, 6)], [(2, 4, 1, 9)], [(1, 4, 12, 1)], [(3, 4, 16, 31)]]


@case(*IMAGES)
def padded_to_the_same_size(net):
    """auto_pad with strides: the padding is what the size leaves of a multiple of the stride."""
    x = net.input("x", ["N", 4, "H", "W"])
    results = []
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        for stride in ([2, 2], [3, 1]):
            same = {"auto_pad": pad, "strides": stride, "kernel_shape": [3, 4]}
            results.append(net.op("Relu", net.op("Conv", x, net.weight(5, 4, 3, 4), **same)))
            results.append(net.op("Conv", x, net.weight(4, 1, 3, 4), group=4, **same))
            results.append(net.op("MaxPool", x, **same))
            results += [net.op("AveragePool", x, count_include_pad=count, **same) for count in (0, 1)]
            results.append(net.op("LpPool", x, p=2, **same))
    return net.model(*results)


@case(*IMAGES)
def places_of_maxima(net):
    """MaxPool(return_indices=True), by rows and by columns."""
    x = net.input("x", ["N", 4, "H", "W"])
    results = []
    for by_columns in (0, 1):
        results += net.op("MaxPool", x, count=2, kernel_shape=[2, 3], strides=[2, 2], pads=[1, 1, 1, 1], storage_order=by_columns)
        results += net.op("MaxPool", x, count=2, kernel_shape=[3, 2], strides=[2, 3], auto_pad="SAME_UPPER", storage_order=by_columns)
    return net.model(*results)


@case([(1, 16)], [(2, 23)], [(1, 100)])
def short_time_transform(net):
    """STFT of a signal of any length, with a window."""
    x = net.input("x", ["N", "T"])
    signal = net.op("Unsqueeze", x, net.ints(2))
    window = net.constant(np.hanning(16).astype(np.float32))
    return net.model(net.op("STFT", signal, net.constant(np.int64(5)), window, net.constant(np.int64(16)), onesided=1),
                     net.op("STFT", signal, net.constant(np.int64(4)), window, onesided=0))


@case([(1, 2)], [(2, 23)], [(3, 100)])
def transforms(net):
    """DFT of a signal of any length, forwards and backwards."""
    net.opset = 20
    # ONNX Runtime's transforms of lengths that are no powers of 2 are off by 5e-5 of an element.
    x = net.op("Unsqueeze", net.op("Mul", net.input("x", ["N", "T"]), net.constant(np.float32(0.02))), net.ints(2))
    axis = net.constant(np.int64(1))
    whole = net.op("DFT", x, "", axis)
    return net.model(whole, net.op("DFT", x, "", axis, onesided=1), net.op("DFT", whole, "", axis, inverse=1),
                     net.op("DFT", x, net.constant(np.int64(30)), axis))


@case([(1, 3, 4, 6)], [(2, 3, 2, 2)], [(1, 3, 10, 8)])
def blocks_of_pixels(net):
    """SpaceToDepth of open images, which must be whole blocks, and back."""
    x = net.input("x", ["N", 3, "H", "W"])
    y = net.op("Relu", net.op("SpaceToDepth", net.op("Conv", x, net.weight(4, 3, 3, 3), pads=[1, 1, 1, 1]), blocksize=2))
    return net.model(y, net.op("DepthToSpace", y, blocksize=2, mode="CRD"))
