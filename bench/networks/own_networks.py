"""The networks that bench/networks/export.py exports beside those of torchvision."""
import torch
from torch.nn import functional


def heads_of(x: torch.Tensor, heads: int) -> torch.Tensor:
    """[batch, length, width] to [batch, heads, length, width / heads]."""
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(1, 2)


def joined(x: torch.Tensor) -> torch.Tensor:
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


class EncoderLayer(torch.nn.Module):
    """Attention and a feed-forward part, each behind a layer norm and beside a shortcut."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def attention(self, y: torch.Tensor) -> torch.Tensor:
        query, key, value = (heads_of(linear(y), self.heads) for linear in (self.query, self.key, self.value))
        weights = torch.softmax(query @ key.transpose(2, 3) * (y.shape[2] // self.heads) ** -0.5, -1)
        return self.out(joined(weights @ value))

    def feed_forward(self, y: torch.Tensor) -> torch.Tensor:
        return self.down(functional.gelu(self.up(y)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class Encoder(torch.nn.Module):
    """Six layers of 384, with 12 heads, over 128 tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, 384)
        self.layers = torch.nn.Sequential(*(EncoderLayer(384, 12) for _ in range(6)))

    def forward(self, tokens):
        return self.layers(self.embedding(tokens))


class BertLayer(EncoderLayer):
    """The same with the norms behind the shortcuts."""

    def forward(self, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.feed_forward(x))


class Bert(torch.nn.Module):
    """BERT-mini: four layers of 256, with 4 heads, over 128 tokens, and the pooled first one."""

    def __init__(self):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(30522, 256), torch.nn.Embedding(512, 256)
        self.norm = torch.nn.LayerNorm(256)
        self.layers = torch.nn.Sequential(*(BertLayer(256, 4) for _ in range(4)))
        self.pooler = torch.nn.Linear(256, 256)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1]).unsqueeze(0)
        x = self.layers(self.norm(self.words(tokens) + self.places(places)))
        return torch.tanh(self.pooler(x[:, 0]))


class Gpt(torch.nn.Module):
    """A step of a decoder like GPT-2's: six layers of 384, with 6 heads, one token behind 255 others, whose keys and values
    are an input [layers, 2, batch, heads, 255, 64]; its result is the logits of 8192 tokens."""

    LAYERS, WIDTH, HEADS, PAST = 6, 384, 6, 255

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(8192, self.WIDTH)
        self.places = torch.nn.Embedding(1024, self.WIDTH)
        self.layers = torch.nn.ModuleList(EncoderLayer(self.WIDTH, self.HEADS) for _ in range(self.LAYERS))
        self.norm = torch.nn.LayerNorm(self.WIDTH)

    def forward(self, token, past):
        x = self.words(token) + self.places.weight[past.shape[4]]
        for i, layer in enumerate(self.layers):
            y = layer.norm1(x)
            query, key, value = (heads_of(linear(y), self.HEADS) for linear in (layer.query, layer.key, layer.value))
            key, value = torch.cat([past[i, 0], key], 2), torch.cat([past[i, 1], value], 2)
            weights = torch.softmax(query @ key.transpose(2, 3) * (self.WIDTH // self.HEADS) ** -0.5, -1)
            x = x + layer.out(joined(weights @ value))
            x = x + layer.feed_forward(layer.norm2(x))
        return functional.linear(self.norm(x), self.words.weight)


class Prefill(torch.nn.Module):
    """The first pass of a decoder like GPT-2 over a text: two layers of 768, with 12 heads, under a causal mask; its result
    is the logits of 8192 tokens behind the last one."""

    WIDTH, HEADS = 768, 12

    def __init__(self, length: int):
        super().__init__()
        self.words = torch.nn.Embedding(8192, self.WIDTH)
        self.places = torch.nn.Embedding(length, self.WIDTH)
        self.layers = torch.nn.ModuleList(EncoderLayer(self.WIDTH, self.HEADS) for _ in range(2))
        self.norm = torch.nn.LayerNorm(self.WIDTH)
        self.register_buffer("past", torch.ones(length, length, dtype=torch.bool).tril())
        self.register_buffer("masked", torch.tensor(torch.finfo(torch.float32).min))

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight
        for layer in self.layers:
            y = layer.norm1(x)
            query, key, value = (heads_of(linear(y), self.HEADS) for linear in (layer.query, layer.key, layer.value))
            scores = query @ key.transpose(2, 3) * (self.WIDTH // self.HEADS) ** -0.5
            weights = torch.softmax(torch.where(self.past, scores, self.masked), -1)
            x = x + layer.out(joined(weights @ value))
            x = x + layer.feed_forward(layer.norm2(x))
        return functional.linear(self.norm(x[:, -1]), self.words.weight)


def double_convolution(inputs: int, outputs: int) -> torch.nn.Sequential:
    layers = []
    for channels in (inputs, outputs):
        layers += [torch.nn.Conv2d(channels, outputs, 3, padding=1, bias=False), torch.nn.BatchNorm2d(outputs),
                   torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


class UNet(torch.nn.Module):
    """Segments an image of 3 channels into 2 classes: four levels of 32 to 256 channels, joined with those on the way up."""

    def __init__(self):
        super().__init__()
        widths = [32, 64, 128, 256]
        self.first = double_convolution(3, widths[0])
        self.downs = torch.nn.ModuleList(double_convolution(a, b) for a, b in zip(widths, widths[1:]))
        self.raises = torch.nn.ModuleList(torch.nn.ConvTranspose2d(b, a, 2, stride=2)
                                          for a, b in zip(widths, widths[1:]))
        self.ups = torch.nn.ModuleList(double_convolution(2 * a, a) for a in widths[:-1])
        self.last = torch.nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        levels = [self.first(x)]
        for down in self.downs:
            levels.append(down(functional.max_pool2d(levels[-1], 2)))
        x = levels.pop()
        for up, raised in zip(reversed(self.ups), reversed(self.raises)):
            x = up(torch.cat([levels.pop(), raised(x)], 1))
        return self.last(x)
