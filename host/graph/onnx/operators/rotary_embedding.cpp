// Rotary embeddings, with heads in a dimension of their own: [batch, heads, sequence, size].
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/attention.h"

namespace ferry::graph::onnx {

Value turned(const NodeImport& node, const Value& x, const Value& cosine, const Value& sine, std::int64_t rotated,
             bool interleaved) {
  const NodeOps of(node);
  const Shape& shape = x.type.shape;
  const Size half = rotated / 2;
  const Value first = of.slice(x, 3, 0, half, interleaved ? 2 : 1);
  const Value second = of.slice(x, 3, interleaved ? 1 : half, half, interleaved ? 2 : 1);
  const Value real = of.sub(of.mul(cosine, first), of.mul(sine, second));
  const Value imaginary = of.add(of.mul(sine, first), of.mul(cosine, second));
  Value result;
  if (interleaved) {
    const Shape pairs = {shape[0], shape[1], shape[2], half, 1};
    result = of.reshape(of.concat({of.reshape(real, pairs), of.reshape(imaginary, pairs)}, 4),
                        {shape[0], shape[1], shape[2], rotated});
  } else {
    result = of.concat({real, imaginary}, 3);
  }
  if (shape[3] == rotated) return result;
  return of.concat({result, of.slice(x, 3, rotated, shape[3] - rotated)}, 3);
}

Value for_heads(const NodeImport& node, const Value& angles, std::int64_t rotated) {
  const Shape& shape = angles.type.shape;
  node.expect(shape.size() == 3 && shape[2].constant() == rotated / 2,
              "angles for " + std::to_string(rotated / 2) + " pairs at each position",
              [&] { return to_text(angles.type); });
  return node.reshape(angles, {shape[0], 1, shape[1], shape[2]});
}

namespace {

// Returns how many entries of a head are rotated.
std::int64_t read_rotated(NodeImport& node, const Shape& shape) {
  const std::optional<std::int64_t> size = shape[3].constant();
  node.expect(size.has_value(), "heads of known size", [&] { return to_text(shape); });
  const std::int64_t wanted = node.integer("rotary_embedding_dim", 0), rotated = wanted == 0 ? *size : wanted;
  node.expect(rotated > 0 && rotated % 2 == 0 && rotated <= *size, "an even number of rotated entries",
              [&] { return std::to_string(rotated); });
  return rotated;
}

}  // namespace

// Rotates pairs of entries by angles that depend on the position.
void import_rotary_embedding(NodeImport& node) {
  const NodeOps of(node);
  const Value x = with_heads(node, node.input(0), "num_heads");
  node.ignore({"num_heads"});
  const std::int64_t rotated = read_rotated(node, x.type.shape);
  const auto angles = [&](std::size_t input) {
    const Value& cache = node.input(input);
    return for_heads(node, node.has_input(3) ? of.gather(cache, node.input(3), 0) : cache, rotated);
  };
  const Value y = turned(node, x, angles(1), angles(2), rotated, node.flag("interleaved", false));
  node.output(0, node.shape(0).size() == 3 ? without_heads(node, y) : y);
}

// That of com.microsoft: the positions come before the angles, and one alone is that of the first element.
void import_contrib_rotary_embedding(NodeImport& node) {
  const NodeOps of(node);
  node.expect(!node.flag("is_packed_batching", false) && node.real("scale", 1) == 1,
              "neither packed batches nor a scale", [] { return "one of them"; });
  const std::int64_t heads = node.integer("num_heads", 0);
  Value x = node.input(0);
  if (x.type.shape.size() == 3) {
    const Shape &shape = x.type.shape, &cache = node.shape(2);
    node.expect(cache.size() == 2, "angles of each position", [&] { return to_text(cache); });
    const Size size = heads > 0 ? floor_divide(shape[2], heads) : cache[1] * 2;
    const std::optional<Size> count = divide_exactly(shape[2], size);
    node.expect(count.has_value(), "heads that divide the last dimension", [&] { return to_text(shape); });
    x = of.transpose(of.reshape(x, {shape[0], shape[1], *count, size}), {0, 2, 1, 3});
  }
  node.expect(x.type.shape.size() == 4, "a tensor of rank 3 or 4", [&] { return to_text(x.type); });
  const std::int64_t rotated = read_rotated(node, x.type.shape);
  Value places = node.input(1);
  if (places.type.shape.size() < 2)
    places = of.add(of.iota(x.type.shape[2], 1, 2), node.cast(node.reshape(places, {1, 1}), DType::i64));
  const auto angles = [&](std::size_t input) {
    return for_heads(node, of.gather(node.input(input), places, 0), rotated);
  };
  const Value y = turned(node, x, angles(2), angles(3), rotated, node.flag("interleaved", false));
  node.output(0, node.shape(0).size() == 3 ? without_heads(node, y) : y);
}

}  // namespace ferry::graph::onnx
