// Convolutions and pooling: operators whose windows move over the spatial dimensions.
#include <cmath>
#include <limits>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/windows.h"

namespace ferry::graph::onnx {
namespace {

// Returns the least number of a type.
double least_of(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return is_signed_int(dtype) ? -std::ldexp(1, static_cast<int>(dtype_bytes(dtype)) * 8 - 1) : 0;
}

void import_pool(NodeImport& node, Operator op, PoolAttributes pool, double padding) {
  Value x = node.input(0);
  pool.windows = read_windows(node, x, node.integers("kernel_shape"), padding);
  pool.ceil = node.flag("ceil_mode", false);
  node.output(0, node.add(op, {x}, pool));
}

// Returns the indices of the greatest elements of all windows in the whole input, which are counted by rows, or by the
// columns of images.
Value greatest_places(NodeImport& node, bool by_columns) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  const Windows all_windows = read_windows(node, shape, node.integers("kernel_shape"));
  const std::vector<WindowAttributes>& windows = all_windows.each;
  const bool ceil = node.flag("ceil_mode", false);
  const std::size_t spatial = windows.size();
  node.expect(2 * spatial + 2 <= 8, "images of 1 to 3 dimensions where indices are wanted",
              [&] { return to_text(shape); });
  // The elements of each window, in dimensions after the window's place, their positions in the image, and whether they
  // are in it.
  Value elements = x, place;
  std::optional<Value> is_inside;
  Shape results = {shape[0], shape[1]};
  Size image = 1;
  const double least = least_of(x.type.dtype);
  for (std::size_t i = 0; i < spatial; ++i) {
    const WindowAttributes& window = windows[i];
    const std::size_t d = 2 + 2 * i;
    const Size &size = shape[i + 2], &outside = all_windows.before[i];
    const auto [count, pad_after] = positions_of(node, size + outside + all_windows.after[i], window, ceil);
    const Size before = outside + window.pad_before, after = all_windows.after[i] + pad_after;
    const Value at = of.add(of.mul(of.iota(count, 0, 2), static_cast<double>(window.stride)),
                            of.mul(of.iota(window.kernel, 1, 2), static_cast<double>(window.dilation)));
    elements = of.gather(of.pad(elements, d, before, after, least), at, d);
    Shape along(2 * spatial, 1);
    along[2 * i] = count;
    along[2 * i + 1] = window.kernel;
    Value own = of.reshape(of.sub(at, of.size(before)), along);
    // The last dimension counts first by rows, the first one by columns.
    if (i == 0) {
      place = own;
    } else {
      place = by_columns ? of.add(place, of.mul(own, of.size(image))) : of.add(of.mul(place, of.size(size)), own);
    }
    if (before.constant() != 0 || after.constant() != 0) {
      const Value is_within = of.logical_and(of.less_equal(0, own), of.less(own, of.size(size)));
      is_inside = is_inside ? of.logical_and(*is_inside, is_within) : is_within;
    }
    image = image * size;
    results.push_back(count);
  }
  std::vector<std::size_t> order = {0, 1};
  for (std::size_t i = 0; i < spatial; ++i) order.push_back(2 + 2 * i);
  for (std::size_t i = 0; i < spatial; ++i) order.push_back(3 + 2 * i);
  Shape flat = results;
  Size window_size = 1;
  for (const WindowAttributes& window : windows) window_size = window_size * window.kernel;
  flat.push_back(window_size);
  Value columns = of.reshape(of.transpose(elements, order), flat);
  std::vector<std::size_t> place_order;
  for (std::size_t i = 2; i < order.size(); ++i) place_order.push_back(order[i] - 2);
  Shape all(2 * spatial, 1), places_shape = {1, 1};
  for (std::size_t i = 0; i < spatial; ++i) {
    all[2 * i] = results[2 + i];
    all[2 * i + 1] = windows[i].kernel;
  }
  places_shape.insert(places_shape.end(), flat.begin() + 2, flat.end());
  const auto each_place = [&](const Value& value) {
    return of.reshape(of.transpose(of.broadcast(value, all), place_order), places_shape);
  };
  const Value places = each_place(place);
  if (is_inside) {
    // Padding may be as little as the greatest element, but is none.
    Value is_greatest = of.equal(columns, of.reduce(Operator::reduce_max, columns, {spatial + 2}));
    if (is_float(x.type.dtype)) is_greatest = of.logical_or(is_greatest, of.logical_not(of.equal(columns, columns)));
    columns = node.cast(of.logical_and(is_greatest, each_place(*is_inside)), DType::u8);
  }
  const Value greatest = of.reduce(Operator::arg_max, columns, {spatial + 2});
  const Value chosen = of.reshape(of.gather_elements(places, greatest, spatial + 2), results);
  const Value channel = of.add(of.mul(of.iota(shape[0], 0, 2), of.size(shape[1])), of.iota(shape[1], 1, 2));
  Shape broadcast = {shape[0], shape[1]};
  broadcast.resize(results.size(), 1);
  const Value offset = of.mul(of.reshape(channel, broadcast), of.size(image));
  return of.add(chosen, offset);
}

double read_p(NodeImport& node) {
  const std::int64_t p = node.integer("p", 2);
  node.expect(p > 0, "a positive p", [&] { return std::to_string(p); });
  return static_cast<double>(p);
}

// Returns the absolute value to the power of p.
Value powers(const NodeImport& node, const Value& x, double p) {
  const NodeOps of(node);
  if (p == 2) return of.mul(x, x);
  return p == 1 ? of.abs(x) : of.pow(of.abs(x), p);
}

Value root(const NodeImport& node, const Value& x, double p) {
  const NodeOps of(node);
  if (p == 2) return of.sqrt(x);
  return p == 1 ? x : of.pow(x, 1 / p);
}

}  // namespace

void import_conv(NodeImport& node) {
  Value x = node.input(0);
  const ConvAttributes conv = read_convolution(node, x, 1);
  std::vector<Value> inputs = {x, node.input(1)};
  if (node.has_input(2)) inputs.push_back(node.input(2));
  node.output(0, node.add(Operator::conv, inputs, conv));
}

void import_max_pool(NodeImport& node) {
  const bool by_columns = node.flag("storage_order", false);
  import_pool(node, Operator::max_pool, {}, least_of(node.input(0).type.dtype));
  if (node.has_output(1)) node.output(1, greatest_places(node, by_columns));
}

// Puts each element where the index of its maximum says, and 0 elsewhere.
void import_max_unpool(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  const Windows all_windows = read_windows(node, shape, kernel);
  node.expect(!all_windows.are_padded_outside(), "spatial sizes that are numbers, for padding by auto_pad",
              [&] { return to_text(shape); });
  const std::vector<WindowAttributes>& windows = all_windows.each;
  Shape images = {shape[0], shape[1]};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const WindowAttributes& window = windows[i];
    images.push_back((shape[i + 2] - 1) * window.stride + window.kernel - window.pad_before - window.pad_after);
  }
  const Size count = element_count(images), given = element_count(shape);
  const Value indices = of.reshape(node.cast(node.input(1), DType::i64), {given});
  const Value zeros = of.filled({x.type.dtype, {count}}, 0);
  Value y = of.reshape(of.scatter(zeros, indices, of.reshape(x, {given}), {0, ScatterMode::replace}), images);
  if (node.has_input(2)) {
    const std::vector<Size> wanted = node.sizes(2, "the output's shape");
    node.expect(wanted.size() == images.size(), "a size for each dimension", [&] { return to_text(wanted); });
    for (std::size_t d = 0; d < images.size(); ++d) {
      const Size missing = wanted[d] - images[d];
      node.expect(!proves_less(missing, 0), "an output shape of at least " + to_text(images),
                  [&] { return to_text(wanted); });
      y = of.pad(y, d, 0, missing);
    }
  }
  node.output(0, y);
}

void import_average_pool(NodeImport& node) {
  PoolAttributes pool;
  pool.count_padding = node.flag("count_include_pad", false);
  pool.ceil = node.flag("ceil_mode", false);
  node.output(0, average_pool(node, node.input(0), pool));
}

void import_global_pool(NodeImport& node) {
  ReduceAttributes reduce = {{}, true};
  for (std::size_t d = 2; d < node.shape(0).size(); ++d) reduce.dimensions.push_back(d);
  const Operator op = node.op() == "GlobalMaxPool" ? Operator::reduce_max : Operator::reduce_mean;
  node.output(0, node.add(op, {node.input(0)}, reduce));
}

// The pth root of the sum of pth powers, which a convolution with ones computes for each channel alone.
void import_lp_pool(NodeImport& node) {
  const NodeOps of(node);
  Value x = node.input(0);
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  std::vector<WindowAttributes> windows = read_windows(node, x, kernel, 0);
  const Shape& shape = x.type.shape;
  const bool ceil = node.flag("ceil_mode", false);
  Shape filter = {1, 1}, images = {shape[0] * shape[1], 1}, counts;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    // The last window may exceed the padded input, which adds nothing.
    const auto [count, pad_after] = positions_of(node, shape[i + 2], windows[i], ceil);
    if (ceil) windows[i].pad_after = pad_after.constant().value_or(windows[i].pad_after + windows[i].stride - 1);
    counts.push_back(count);
    filter.push_back(kernel[i]);
    images.push_back(shape[i + 2]);
  }
  Value sum = node.add(Operator::conv,
                       {of.reshape(powers(node, x, read_p(node)), images), of.filled({x.type.dtype, filter}, 1)},
                       ConvAttributes{windows, 1});
  // Windows that begin behind the input do not count.
  for (std::size_t i = 0; i < counts.size(); ++i) sum = of.slice(sum, i + 2, 0, counts[i]);
  Shape result = {shape[0], shape[1]};
  result.insert(result.end(), sum.type.shape.begin() + 2, sum.type.shape.end());
  node.output(0, of.reshape(root(node, sum, read_p(node)), result));
}

void import_global_lp_pool(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  node.expect(rank >= 2, "an input with channels", [&] { return to_text(x.type); });
  const Value sum = NodeOps(node).reduce(Operator::reduce_sum, powers(node, x, read_p(node)), dimensions_from(2, rank));
  node.output(0, root(node, sum, read_p(node)));
}

}  // namespace ferry::graph::onnx
