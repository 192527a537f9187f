// Operators whose indices are data: elements are gathered from places of a tensor, or scattered to them.
#include <algorithm>
#include <iterator>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

Value expect_indices(const NodeImport& node, std::size_t input) {
  const Value& indices = node.input(input);
  node.expect(is_signed_int(indices.type.dtype), "indices of int32 or int64",
              [&] { return dtype_name(indices.type.dtype); });
  return node.cast(indices, DType::i64);
}

ScatterMode read_mode(NodeImport& node) {
  constexpr std::pair<const char*, ScatterMode> kModes[] = {{"none", ScatterMode::replace},
                                                            {"add", ScatterMode::add},
                                                            {"mul", ScatterMode::mul},
                                                            {"min", ScatterMode::minimum},
                                                            {"max", ScatterMode::maximum}};
  const std::string wanted = node.text("reduction", "none");
  const auto* mode =
      std::find_if(std::begin(kModes), std::end(kModes), [&](const auto& one) { return one.first == wanted; });
  node.expect(mode != std::end(kModes), "the reduction none, add, mul, min or max", [&] { return wanted; });
  return mode->second;
}

// The places that tuples of indices name: how many dimensions they index, after those of the batch.
struct Places {
  Shape batch, indexed, rest;  // parts of the data's shape
  Shape tuples;                // the indices' shape after the batch, without the tuple itself
  Value linear;                // row-major positions in `indexed`, of shape batch + tuples
};

Places read_places(const NodeImport& node, std::size_t batch_dims) {
  const NodeOps of(node);
  const Shape& data = node.shape(0);
  const Value indices = expect_indices(node, 1);
  const Shape& shape = indices.type.shape;
  node.expect(!shape.empty() && batch_dims < shape.size() && batch_dims <= data.size(),
              "batch dimensions of data and indices", [&] { return to_text(shape); });
  const std::optional<std::int64_t> length = shape.back().constant();
  const auto room = static_cast<std::int64_t>(data.size() - batch_dims);
  node.expect(length && *length >= 1 && *length <= room, "tuples of 1 to " + std::to_string(room) + " indices",
              [&] { return to_text(shape); });
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(batch_dims), end = begin + *length;
  Places places = {{data.begin(), begin},
                   {begin, end},
                   {end, data.end()},
                   {shape.begin() + static_cast<std::ptrdiff_t>(batch_dims), shape.end() - 1},
                   {}};
  const Shape linear(shape.begin(), shape.end() - 1);
  for (std::int64_t i = 0; i < *length; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Value index = of.reshape(of.slice(indices, shape.size() - 1, i, 1), linear);
    const Value size = of.size(places.indexed[at]);
    const Value counted = of.where(of.less(index, 0), of.add(index, size), index);
    places.linear = i == 0 ? counted : of.add(of.mul(places.linear, size), counted);
  }
  return places;
}

Shape joined(std::initializer_list<Shape> parts) {
  Shape all;
  for (const Shape& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

void import_gather_elements(NodeImport& node) {
  const NodeOps of(node);
  Value x = node.input(0);
  const Value indices = expect_indices(node, 1);
  const Shape& shape = indices.type.shape;
  const std::size_t d = node.dimension(node.integer("axis", 0), x.type.shape.size());
  node.expect(shape.size() == x.type.shape.size(), "indices of the data's rank", [&] { return to_text(shape); });
  // The indices may cover the first part of the other dimensions only.
  for (std::size_t other = 0; other < shape.size(); ++other) {
    if (other != d) x = of.slice(x, other, 0, shape[other]);
  }
  node.output(0, of.gather_elements(x, indices, d));
}

void import_gather_nd(NodeImport& node) {
  const NodeOps of(node);
  const std::int64_t batch_dims = node.integer("batch_dims", 0);
  node.expect(batch_dims >= 0 && batch_dims <= 64, "batch_dims of 0 or more",
              [&] { return std::to_string(batch_dims); });
  const Places places = read_places(node, static_cast<std::size_t>(batch_dims));
  const Size batch = element_count(places.batch), rest = element_count(places.rest);
  const Value data = of.reshape(node.input(0), {batch, element_count(places.indexed), rest});
  const Value indices = of.reshape(places.linear, {batch, element_count(places.tuples), 1});
  const Value picked = of.gather_elements(data, indices, 1);
  node.output(0, of.reshape(picked, joined({places.batch, places.tuples, places.rest})));
}

// Before opset 11 it is called Scatter.
void import_scatter_elements(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  Value indices = expect_indices(node, 1), updates = node.input(2);
  const std::size_t d = node.dimension(node.integer("axis", 0), shape.size());
  node.expect(indices.type.shape == updates.type.shape && indices.type.shape.size() == shape.size(),
              "indices and updates of one shape, with the data's rank",
              [&] { return to_text(indices.type.shape) + " and " + to_text(updates.type.shape); });
  for (std::size_t other = 0; other < shape.size(); ++other) {
    if (other == d) continue;
    const Size missing = shape[other] - indices.type.shape[other];
    node.expect(!proves_less(missing, 0), "indices that fit the data", [&] { return to_text(indices.type.shape); });
    indices = of.pad(indices, other, 0, missing, kNoIndex);
    updates = of.pad(updates, other, 0, missing);
  }
  node.output(0, of.scatter(x, indices, updates, {d, read_mode(node)}));
}

void import_scatter_nd(NodeImport& node) {
  const NodeOps of(node);
  const Value &x = node.input(0), &updates = node.input(2);
  const Places places = read_places(node, 0);
  const Size count = element_count(places.tuples), rest = element_count(places.rest);
  const Shape expected = joined({places.tuples, places.rest});
  node.expect(updates.type.shape == expected, "updates of shape " + to_text(expected),
              [&] { return to_text(updates.type.shape); });
  const Value data = of.reshape(x, {element_count(places.indexed), rest});
  const Value changed =
      of.scatter(data, of.reshape(places.linear, {count, 1}), of.reshape(updates, {count, rest}), {0, read_mode(node)});
  node.output(0, of.reshape(changed, x.type.shape));
}

void import_reverse_sequence(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  const std::size_t time = node.dimension(node.integer("time_axis", 0), shape.size()),
                    batch = node.dimension(node.integer("batch_axis", 1), shape.size());
  node.expect(time != batch, "different axes for batch and time", [&] { return std::to_string(time) + " twice"; });
  Shape lengths_shape(shape.size(), 1);
  lengths_shape[batch] = shape[batch];
  const Value lengths = of.reshape(expect_indices(node, 1), lengths_shape),
              at = of.iota(shape[time], time, shape.size());
  const Value reversed = of.sub(of.sub(lengths, 1), at);
  node.output(0, of.gather_elements(x, of.where(of.less(at, lengths), reversed, at), time));
}

void import_one_hot(NodeImport& node) {
  const NodeOps of(node);
  const Value& given = node.input(0);
  const std::vector<Size> depth = node.has_input(1) && is_float(node.input(1).type.dtype)
                                      ? std::vector<Size>{node.number(1, "the depth")}
                                      : node.sizes(1, "the depth");
  node.expect(depth.size() == 1 && !proves_less(depth[0], 0), "one depth of 0 or more", [&] { return to_text(depth); });
  const std::size_t rank = given.type.shape.size() + 1, d = node.dimension(node.integer("axis", -1), rank);
  Shape shape = given.type.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), 1);
  const Value index = of.reshape(node.cast(given, DType::i64), shape);
  const Value counted = of.where(of.less(index, 0), of.add(index, of.size(depth[0])), index);
  const Value& values = node.input(2);
  node.expect(values.type.shape == Shape{2}, "the values off and on", [&] { return to_text(values.type); });
  const Value off = of.reshape(of.slice(values, 0, 0, 1), {}), on = of.reshape(of.slice(values, 0, 1, 1), {});
  node.output(0, of.where(of.equal(counted, of.iota(depth[0], d, rank)), on, off));
}

void import_eye_like(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  node.expect(shape.size() == 2, "a matrix", [&] { return to_text(shape); });
  const Value rows = of.iota(shape[0], 0, 2), columns = of.iota(shape[1], 1, 2);
  const DType to = node.has("dtype") ? node.element_type("dtype") : x.type.dtype;
  node.ignore({"dtype"});
  const Value diagonal = of.size(node.integer("k", 0));
  node.output(0, node.cast(of.equal(of.sub(columns, rows), diagonal), to));
}

}  // namespace ferry::graph::onnx
