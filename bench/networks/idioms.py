"""How people write networks in PyTorch: modules by name, each with what it is called with.

A module is called with tensors for a batch and a length, both of which are open in the exported file: sequences [batch, length, 16],
tokens [batch, length], images [batch, 8, 4 * length, 4 * length].
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, CHANNELS, WORDS = 16, 8, 50


class Function(nn.Module):
    """A function of tensors, with modules that it may use as `m.NAME`."""

    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *tensors):
        return self.function(self, *tensors)


def causal(scores):
    length = scores.shape[-1]
    return scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), float("-inf"))


def rotary(x):
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1]).unsqueeze(1) * 10000 ** (-torch.arange(half) / half)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def attention(m, x):
    batch, length, width = x.shape
    q, k, v = m.qkv(x).reshape(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(causal(q @ k.transpose(-2, -1) / math.sqrt(width // 4)), -1)
    return m.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


def sdpa(m, x, is_causal):
    batch, length, width = x.shape
    q, k, v = (part.view(batch, length, 4, width // 4).transpose(1, 2) for part in m.qkv(x).chunk(3, -1))
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2).reshape(batch, length, width)


def cached(m, x, past):
    keys = torch.cat([past, m.key(x)], 1)
    return torch.softmax(m.query(x) @ keys.transpose(1, 2), -1) @ keys


def relative_bias(m, x):
    places = torch.arange(x.shape[1])
    distance = (places[None] - places[:, None]).clamp(-4, 4) + 4
    return torch.softmax(x @ x.transpose(1, 2) + m.table(distance).squeeze(-1), -1) @ x


def pad_to_multiple(m, x):
    batch, length, width = x.shape
    x = F.pad(x, (0, 0, 0, -length % 4))
    return m.norm(x.reshape(batch, -1, 4 * width))


def windows(m, x):
    batch, channels, height, width = x.shape
    x = x.view(batch, channels, height // 4, 4, width // 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, channels)
    x = m.layer(x).view(batch, height // 4, width // 4, 4, 4, channels)
    return x.permute(0, 5, 1, 3, 2, 4).reshape(batch, channels, height, width)


def convnext(m, x):
    y = m.norm(m.conv(x).permute(0, 2, 3, 1))
    return x + m.down(F.gelu(m.up(y))).permute(0, 3, 1, 2)


def squeeze_excite(m, x):
    return x * torch.sigmoid(m.up(F.relu(m.down(x.mean((2, 3), keepdim=True)))))


def unet(m, x):
    low = m.down(F.max_pool2d(x, 2))
    up = F.interpolate(low, size=x.shape[2:], mode="bilinear", align_corners=False)
    return m.last(torch.cat([x, up], 1))


def shifted_grid(m, x):
    theta = torch.tensor([[[0.9, 0.1, 0.0], [-0.1, 0.9, 0.1]]]).expand(x.shape[0], 2, 3)
    return F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)


def conv(inputs=CHANNELS, outputs=CHANNELS, **options):
    return nn.Conv2d(inputs, outputs, 3, padding=1, **options)


def normed():
    norm = nn.BatchNorm2d(CHANNELS)
    nn.init.uniform_(norm.running_mean, -1, 1)
    nn.init.uniform_(norm.running_var, 0.5, 1.5)
    return norm


def transposed(function):
    return lambda m, x: function(m, x.transpose(1, 2)).transpose(1, 2)


QKV = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH)}


def linears(**sizes):
    return {name: nn.Linear(*size) for name, size in sizes.items()}


SEQUENCES = {
    "linear": lambda: nn.Linear(WIDTH, 24),
    "mlp": lambda: nn.Sequential(nn.Linear(WIDTH, 32), nn.GELU(), nn.Linear(32, WIDTH)),
    "gelu_tanh": lambda: nn.GELU(approximate="tanh"),
    "glu": lambda: Function(lambda m, x: F.glu(m.up(x), -1), **linears(up=(WIDTH, 32))),
    "swiglu": lambda: Function(lambda m, x: m.down(F.silu(m.gate(x)) * m.up(x)),
                               **linears(gate=(WIDTH, 32), up=(WIDTH, 32), down=(32, WIDTH))),
    "layer_norm": lambda: nn.LayerNorm(WIDTH),
    "rms_norm": lambda: Function(lambda m, x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)),
    "batch_norm": lambda: Function(transposed(lambda m, x: m.norm(x)), norm=nn.BatchNorm1d(WIDTH)),
    "causal_attention": lambda: Function(attention, **linears(**QKV)),
    "scaled_dot_product": lambda: Function(lambda m, x: sdpa(m, x, False), **linears(**QKV)),
    "causal_scaled_dot_product": lambda: Function(lambda m, x: sdpa(m, x, True), **linears(**QKV)),
    "multihead_attention": lambda: Function(lambda m, x: m.attention(x, x, x, need_weights=False)[0],
                                            attention=nn.MultiheadAttention(WIDTH, 4, batch_first=True)),
    "encoder_layer": lambda: nn.TransformerEncoderLayer(WIDTH, 4, 32, batch_first=True, norm_first=True),
    "cross_attention": lambda: Function(
        lambda m, x: m.attention(m.queries.expand(x.shape[0], 5, WIDTH), x, x, need_weights=False)[0],
        attention=nn.MultiheadAttention(WIDTH, 4, batch_first=True), queries=nn.Parameter(torch.randn(1, 5, WIDTH))),
    "rotary": lambda: Function(lambda m, x: rotary(x)),
    "positions": lambda: Function(lambda m, x: x + m.table[:x.shape[1]], table=nn.Parameter(torch.randn(40, WIDTH))),
    "learned_positions": lambda: Function(lambda m, x: x + m.table(torch.arange(x.shape[1])), table=nn.Embedding(40, WIDTH)),
    "relative_bias": lambda: Function(relative_bias, table=nn.Embedding(9, 1)),
    "class_token": lambda: Function(lambda m, x: torch.cat([m.token.expand(x.shape[0], 1, WIDTH), x], 1),
                                    token=nn.Parameter(torch.randn(1, 1, WIDTH))),
    "conv1d": lambda: Function(transposed(lambda m, x: m.conv(x)), conv=nn.Conv1d(WIDTH, 24, 3, padding=1)),
    "causal_conv1d": lambda: Function(transposed(lambda m, x: m.conv(F.pad(x, (4, 0)))), conv=nn.Conv1d(WIDTH, WIDTH, 3, dilation=2)),
    "depthwise_conv1d": lambda: Function(transposed(lambda m, x: m.conv(x)), conv=nn.Conv1d(WIDTH, WIDTH, 5, padding=2, groups=WIDTH)),
    "strided_conv1d": lambda: Function(transposed(lambda m, x: m.conv(x)), conv=nn.Conv1d(WIDTH, WIDTH, 4, 2, padding=1)),
    "transposed_conv1d": lambda: Function(transposed(lambda m, x: m.conv(x)), conv=nn.ConvTranspose1d(WIDTH, WIDTH, 4, 2, padding=1)),
    "lstm": lambda: Function(lambda m, x: m.rnn(x)[0], rnn=nn.LSTM(WIDTH, 12, batch_first=True)),
    "bidirectional_lstm": lambda: Function(lambda m, x: m.rnn(x)[0], rnn=nn.LSTM(WIDTH, 12, batch_first=True, bidirectional=True)),
    "gru": lambda: Function(lambda m, x: m.rnn(x)[0], rnn=nn.GRU(WIDTH, 12, batch_first=True)),
    "last_state": lambda: Function(lambda m, x: m.rnn(x)[1], rnn=nn.GRU(WIDTH, 12, batch_first=True)),
    "mean_pool": lambda: Function(lambda m, x: x.mean(1)),
    "max_pool1d": lambda: Function(transposed(lambda m, x: F.max_pool1d(x, 2))),
    "adaptive_pool1d": lambda: Function(transposed(lambda m, x: F.adaptive_avg_pool1d(x, 1))),
    "last_token": lambda: Function(lambda m, x: x[:, -1]),
    "every_second": lambda: Function(lambda m, x: x[:, ::2]),
    "shift": lambda: Function(lambda m, x: torch.cat([x[:, 1:], x[:, :1]], 1)),
    "roll": lambda: Function(lambda m, x: torch.roll(x, 1, 1)),
    "flip": lambda: Function(lambda m, x: torch.flip(x, [1])),
    "difference": lambda: Function(lambda m, x: x[:, 1:] - x[:, :-1]),
    "stack": lambda: Function(lambda m, x: torch.stack([x, -x], 1)),
    "split": lambda: Function(lambda m, x: sum(part * (i + 1) for i, part in enumerate(x.split(4, -1)))),
    "frames": lambda: Function(lambda m, x: x.unfold(1, 4, 2).mean(-1)),
    "pad_to_multiple": lambda: Function(pad_to_multiple, norm=nn.LayerNorm(4 * WIDTH)),
    "merge_pairs": lambda: Function(lambda m, x: m.down(x.reshape(x.shape[0], x.shape[1] // 2, 2 * WIDTH)), **linears(down=(2 * WIDTH, WIDTH))),
    "repeat_interleave": lambda: Function(lambda m, x: x.repeat_interleave(2, 1)),
    "einsum": lambda: Function(lambda m, x: torch.einsum("bld,bmd->blm", x, x)),
    "cumsum": lambda: Function(lambda m, x: x.cumsum(1)),
    "normalize": lambda: Function(lambda m, x: F.normalize(x, dim=-1)),
    "logsumexp": lambda: Function(lambda m, x: torch.logsumexp(x, 1)),
    "standardize": lambda: Function(lambda m, x: (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)),
    "topk": lambda: Function(lambda m, x: x.topk(3, -1)[0]),
    "argmax": lambda: Function(lambda m, x: x.argmax(-1)),
    "sort": lambda: Function(lambda m, x: x.sort(-1)[0]),
    "masked_mean": lambda: Function(lambda m, x: torch.where(x > 0, x, torch.zeros_like(x)).sum(1) / (x > 0).sum(1).clamp(min=1)),
    "lengths": lambda: Function(lambda m, x: x * torch.arange(x.shape[1]).unsqueeze(-1) / x.shape[1]),
    "distances": lambda: Function(lambda m, x: ((x[:, :, None] - x[:, None]) ** 2).sum(-1).clamp(min=1e-12).sqrt()),
}
TOKENS = {
    "embedding": lambda: nn.Embedding(WORDS, WIDTH),
    "tied_embedding": lambda: Function(lambda m, t: m.words(t) @ m.words.weight.t(), words=nn.Embedding(WORDS, WIDTH)),
    "one_hot": lambda: Function(lambda m, t: F.one_hot(t, WORDS).float()),
    "padding_mask": lambda: Function(lambda m, t: m.words(t) * (t != 0).unsqueeze(-1), words=nn.Embedding(WORDS, WIDTH)),
}
IMAGES = {
    "conv_norm_relu": lambda: nn.Sequential(conv(), normed(), nn.ReLU()),
    "residual_block": lambda: Function(lambda m, x: F.relu(x + m.b(F.relu(m.a(x)))), a=nn.Sequential(conv(), normed()),
                                       b=nn.Sequential(conv(), normed())),
    "separable_conv": lambda: nn.Sequential(conv(groups=CHANNELS), nn.Conv2d(CHANNELS, 12, 1), nn.Hardswish()),
    "squeeze_excite": lambda: Function(squeeze_excite, down=nn.Conv2d(CHANNELS, 4, 1), up=nn.Conv2d(4, CHANNELS, 1)),
    "convnext": lambda: Function(convnext, conv=nn.Conv2d(CHANNELS, CHANNELS, 7, padding=3, groups=CHANNELS), norm=nn.LayerNorm(CHANNELS),
                                 **linears(up=(CHANNELS, 32), down=(32, CHANNELS))),
    "group_norm": lambda: nn.GroupNorm(2, CHANNELS),
    "instance_norm": lambda: nn.InstanceNorm2d(CHANNELS, affine=True),
    "classifier": lambda: nn.Sequential(conv(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(CHANNELS, 10)),
    "max_pool": lambda: nn.MaxPool2d(3, 2, padding=1),
    "upsample_nearest": lambda: nn.Upsample(scale_factor=2),
    "upsample_bilinear": lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
    "unet": lambda: Function(unet, down=conv(), last=conv(2 * CHANNELS, 2)),
    "pixel_shuffle": lambda: nn.Sequential(nn.Conv2d(CHANNELS, 12, 1), nn.PixelShuffle(2)),
    "transposed_conv": lambda: nn.ConvTranspose2d(CHANNELS, CHANNELS, 2, 2),
    "patches": lambda: Function(lambda m, x: m.conv(x).flatten(2).transpose(1, 2), conv=nn.Conv2d(CHANNELS, WIDTH, 4, 4)),
    "windows": lambda: Function(windows, layer=nn.Linear(CHANNELS, CHANNELS)),
    "reflect_pad": lambda: nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(CHANNELS, CHANNELS, 3)),
    "grid_sample": lambda: Function(shifted_grid),
}


def sequence(batch, length):
    return {"x": torch.randn(batch, length, WIDTH)}


def tokens(batch, length):
    return {"x": torch.randint(0, WORDS, (batch, length))}


def image(batch, length):
    return {"x": torch.randn(batch, CHANNELS, 4 * length, 4 * length)}


def with_past(batch, length):
    return {"x": torch.randn(batch, 1, WIDTH), "past": torch.randn(batch, length, WIDTH)}


# By name: what makes the module, what makes its inputs, and the open dimensions of each.
IDIOMS = {
    **{name: (make, sequence, {"x": {0: "batch", 1: "length"}}) for name, make in SEQUENCES.items()},
    **{name: (make, tokens, {"x": {0: "batch", 1: "length"}}) for name, make in TOKENS.items()},
    **{name: (make, image, {"x": {0: "batch", 2: "height", 3: "width"}}) for name, make in IMAGES.items()},
    "kv_cache": (lambda: Function(cached, **linears(key=(WIDTH, WIDTH), query=(WIDTH, WIDTH))), with_past,
                 {"x": {0: "batch"}, "past": {0: "batch", 1: "length"}}),
}
