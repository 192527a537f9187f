// Windows, and Fourier transforms as products with matrices of sines and cosines.
#include <cmath>
#include <numbers>
#include <utility>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

// A matrix of this many rows and columns has 64 MiB.
constexpr std::int64_t kMaxLength = 4096;

constexpr double kTurn = 2 * std::numbers::pi;

// Returns the angles of a transform, [length, bins], as float64. The product of both places is taken modulo the length,
// which keeps it exact.
Value angles_of(const NodeOps& of, const Size& length, const Size& bins) {
  const Value products = of.mul(of.iota(length, 0, 2), of.iota(bins, 1, 2));
  const Value turns = of.cast(of.modulo(products, of.size(length)), DType::f64);
  if (length.constant()) return of.mul(turns, kTurn / static_cast<double>(*length.constant()));
  return of.div(of.mul(turns, kTurn), of.cast(of.size(length), DType::f64));
}

struct Complex {
  Value real;
  std::optional<Value> imaginary;
};

Value joined(const NodeOps& of, const Value& real, const Value& imaginary) {
  Shape shape = real.type.shape;
  shape.push_back(1);
  return of.concat({of.reshape(real, shape), of.reshape(imaginary, shape)}, shape.size() - 1);
}

// Takes the parts of a tensor whose last dimension has the real part, and perhaps the imaginary part.
Complex parts_of(const NodeImport& node, const NodeOps& of, const Value& x) {
  const Shape& shape = x.type.shape;
  const std::optional<std::int64_t> count = shape.empty() ? std::nullopt : shape.back().constant();
  node.expect(shape.size() >= 2 && (count == 1 || count == 2), "a last dimension of one part or two",
              [&] { return to_text(shape); });
  const Shape rest(shape.begin(), shape.end() - 1);
  const auto part = [&](std::int64_t which) { return of.reshape(of.slice(x, rest.size(), which, 1), rest); };
  return count == 1 ? Complex{part(0), {}} : Complex{part(0), part(1)};
}

// Cuts a dimension to this size, or fills it up with zeros.
Value fitted(const NodeOps& of, const Value& x, std::size_t d, const Size& size) {
  const Size& given = x.type.shape[d];
  if (given == size) return x;
  return of.slice(of.pad(x, d, 0, max(size - given, 0)), d, 0, size);
}

// Transforms the last dimension, to `bins` of the frequencies. An inverse transform is not divided by the length.
Complex transformed(const NodeOps& of, const Complex& x, const Size& length, const Size& bins, bool inverse) {
  const std::size_t d = x.real.type.shape.size() - 1;
  const DType dtype = x.real.type.dtype;
  const Value angles = angles_of(of, length, bins);
  const Value cosine = of.cast(of.cos(angles), dtype), sine = of.cast(of.sin(angles), dtype);
  const Value real = fitted(of, x.real, d, length);
  const Value by_cosine = of.matmul(real, cosine), by_sine = of.matmul(real, sine);
  // exp(-i * angle) forwards and exp(i * angle) backwards
  if (!x.imaginary) return {by_cosine, inverse ? by_sine : of.neg(by_sine)};
  const Value imaginary = fitted(of, *x.imaginary, d, length);
  const Value other_cosine = of.matmul(imaginary, cosine), other_sine = of.matmul(imaginary, sine);
  if (inverse) return {of.sub(by_cosine, other_sine), of.add(other_cosine, by_sine)};
  return {of.add(by_cosine, other_sine), of.sub(other_cosine, by_sine)};
}

// An open length is checked in each call.
Size checked_length(const NodeImport& node, const Size& length) {
  const std::optional<std::int64_t> known = length.constant();
  node.expect(!known || (*known > 0 && *known <= kMaxLength),
              "transforms of 1 to " + std::to_string(kMaxLength) + " elements", [&] { return to_text(length); });
  if (!known) node.equal("the transform's length", length, "the longest one", min(length, kMaxLength));
  return length;
}

// The same order of dimensions with two of them exchanged.
Value exchanged(const NodeOps& of, const Value& x, std::size_t a, std::size_t b) {
  std::vector<std::size_t> order = dimensions_from(0, x.type.shape.size());
  std::swap(order[a], order[b]);
  return of.transpose(x, order);
}

}  // namespace

void import_window(NodeImport& node) {
  const NodeOps of(node);
  const std::vector<Size> size = node.sizes(0, "the size");
  node.expect(size.size() == 1 && size[0].constant() && *size[0].constant() >= 0 && *size[0].constant() < 1 << 24,
              "one size below 2^24", [&] { return to_text(size); });
  const auto count = static_cast<double>(*size[0].constant());
  const bool is_periodic = node.flag("periodic", true);
  const DType to = node.has("output_datatype") ? node.element_type("output_datatype") : DType::f32;
  node.ignore({"output_datatype"});
  const Value places = node.cast(of.iota(size[0]), is_float(to) && dtype_bytes(to) > 4 ? to : DType::f32);
  const Value angle = of.mul(places, kTurn / (is_periodic ? count : count - 1));
  Value window;
  if (node.op() == "HannWindow") {
    window = of.sub(0.5, of.mul(of.cos(angle), 0.5));
  } else if (node.op() == "HammingWindow") {
    window = of.sub(25.0 / 46, of.mul(of.cos(angle), 1 - 25.0 / 46));
  } else {
    window = of.add(of.sub(0.42, of.mul(of.cos(angle), 0.5)), of.mul(of.cos(of.mul(angle, 2)), 0.08));
  }
  node.output(0, node.cast(window, to));
}

void import_dft(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  std::int64_t axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
  if (node.opset() >= 20 && node.has_input(2)) axis = node.number(2, "the axis");
  const bool inverse = node.flag("inverse", false), onesided = node.flag("onesided", false);
  const std::size_t d = node.dimension(axis, rank);
  node.expect(d + 1 < rank, "a dimension before the last one", [&] { return to_text(x.type.shape); });
  const Size& size = x.type.shape[d];
  const Size usual = inverse && onesided ? (size - 1) * 2 : size;
  const Size length = checked_length(node, node.has_input(1) ? node.size(1, "the transform's length") : usual);
  Complex parts = parts_of(node, of, x);
  const std::size_t last = rank - 2;
  parts.real = exchanged(of, parts.real, d, last);
  if (parts.imaginary) parts.imaginary = exchanged(of, *parts.imaginary, d, last);
  if (inverse && onesided) {
    // The other frequencies are the conjugates of these, in reverse.
    const Size kept = floor_divide(length, 2) + 1, others = length - kept;
    const auto whole = [&](Value part, bool is_real) {
      part = fitted(of, part, last, kept);
      if (others.constant() == 0) return part;
      const Value rest = of.slice(part, last, others, others, -1);
      return of.concat({part, is_real ? rest : of.neg(rest)}, last);
    };
    if (!parts.imaginary) parts.imaginary = of.filled(parts.real.type, 0);
    parts = {whole(parts.real, true), whole(*parts.imaginary, false)};
  }
  const Complex result =
      transformed(of, parts, length, onesided && !inverse ? floor_divide(length, 2) + 1 : length, inverse);
  const auto finished = [&](const Value& part) {
    return exchanged(of, inverse ? of.div(part, of.cast(of.size(length), part.type.dtype)) : part, d, last);
  };
  const Value real = finished(result.real);
  if (!inverse || !onesided) return node.output(0, joined(of, real, finished(*result.imaginary)));
  Shape shape = real.type.shape;
  shape.push_back(1);
  node.output(0, of.reshape(real, shape));
}

void import_stft(NodeImport& node) {
  const NodeOps of(node);
  Value x = node.input(0);
  const std::int64_t step = node.number(1, "the step");
  // Exporters leave out the last dimension of a real signal.
  if (x.type.shape.size() == 2) x = of.reshape(x, {x.type.shape[0], x.type.shape[1], 1});
  node.expect(x.type.shape.size() == 3 && step > 0 && step < std::int64_t{1} << 40, "a signal, and a positive step",
              [&] { return to_text(x.type.shape); });
  node.expect(node.has_input(2) || node.has_input(3), "a window or a length of the frames", [] { return "none"; });
  const Size length =
      checked_length(node, node.has_input(3) ? node.size(3, "the frame's length") : element_count(node.shape(2)));
  const Size& signal = x.type.shape[1];
  node.expect(!proves_less(signal, length), "a signal as long as a frame", [&] { return to_text(signal); });
  const Size frames = floor_divide(signal - length, step) + 1;
  node.expect(frames.constant().value_or(0) <= 1 << 20, "at most 2^20 frames", [&] { return to_text(frames); });
  const bool onesided = node.flag("onesided", true);
  Complex parts = parts_of(node, of, x);
  const Value places = of.add(of.mul(of.iota(frames, 0, 2), static_cast<double>(step)), of.iota(length, 1, 2));
  const auto framed = [&](const Value& part) {
    const Value cut = of.gather(part, places, 1);
    return node.has_input(2) ? of.mul(cut, node.input(2)) : cut;
  };
  parts.real = framed(parts.real);
  if (parts.imaginary) parts.imaginary = framed(*parts.imaginary);
  const Complex result = transformed(of, parts, length, onesided ? floor_divide(length, 2) + 1 : length, false);
  node.output(0, joined(of, result.real, *result.imaginary));
}

}  // namespace ferry::graph::onnx
