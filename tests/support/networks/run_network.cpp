#include "tests/support/networks/run_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "ferry/compile.h"
#include "host/graph/compile/compile_network.h"
#include "module/manifest.h"
#include "module/step_description.h"

namespace ferry::test {

using namespace graph;

namespace {

std::vector<std::byte> random_input(const Tensor& tensor, const graph::Shape& shape, const NetworkSizes& sizes) {
  const auto count = static_cast<std::size_t>(value_of(element_count(shape), sizes));
  std::vector<std::byte> bytes(count * dtype_bytes(tensor.dtype));
  fill(FillKind::random, 7, tensor.dtype, 0, count, bytes.data());
  return bytes;
}

std::string difference(const std::vector<std::byte>& expected_bytes, const DeviceTensor& tensor) {
  std::vector<float> got(tensor.elements()), expected(expected_bytes.size() / sizeof(float));
  if (got.size() != expected.size()) return format("expected %zu elements, got %zu", expected.size(), got.size());
  tensor.read(got.data());
  std::memcpy(expected.data(), expected_bytes.data(), expected_bytes.size());
  float largest = 0, apart = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return format("element %zu is not finite", i);
    largest = std::max(largest, std::abs(expected[i]));
    apart = std::max(apart, std::abs(expected[i] - got[i]));
  }
  if (!got.empty() && largest == 0) return "all of it is 0";
  if (apart <= 1e-4F * largest) return "";
  return format("an element is %g off, where the largest is %g", static_cast<double>(apart),
                static_cast<double>(largest));
}

// Compares bytes, of which a fiftieth may be off by one.
std::string difference_of_bytes(const std::vector<std::byte>& expected, const DeviceTensor& tensor) {
  std::vector<std::byte> got(tensor.elements());
  if (got.size() != expected.size()) return format("expected %zu elements, got %zu", expected.size(), got.size());
  if (expected.empty()) return "";
  tensor.read(got.data());
  std::size_t off = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const int is = std::to_integer<int>(got[i]), wanted = std::to_integer<int>(expected[i]);
    if (std::abs(is - wanted) > 1) return format("element %zu is %d, expected %d", i, is, wanted);
    off += is == wanted ? 0 : 1;
  }
  if (std::ranges::count(expected, expected.front()) == std::ssize(expected)) return "all elements are equal";
  return off * 50 <= got.size() ? "" : format("%zu of %zu elements are off by one", off, got.size());
}

}  // namespace

std::string wrong_results(const Device& device, const Target& target, const Graph& network,
                          const std::vector<NetworkSizes>& all_sizes, const NetworkSizes& expected_sizes) {
  validate(network);
  CompiledNetwork compiled = compile_network(network, target, {.sizes = expected_sizes});
  const CompiledModule loaded(std::move(compiled.module), compiled.blobs);
  const Function function = device.load(loaded)[network.name];
  if (loaded.steps().size() != function.info().plan.steps.size()) return "not every step is described";
  for (const NetworkSizes& sizes : all_sizes) {
    std::vector<std::vector<std::byte>> inputs;
    std::vector<Argument> arguments;
    for (const TensorId id : network.inputs) {
      const Tensor& tensor = network.tensor(id);
      inputs.push_back(random_input(tensor, tensor.shape, sizes));
      std::vector<std::int64_t> shape;
      for (const Size& size : tensor.shape) shape.push_back(value_of(size, sizes));
      arguments.emplace_back(View{tensor.dtype, shape, inputs.back().data()});
    }
    const std::vector<DeviceTensor> results = function.call(arguments);
    const std::vector<std::vector<std::byte>> expected = evaluate(network, sizes, inputs);
    if (results.size() != network.outputs.size()) return "other results than the network has";
    for (std::size_t o = 0; o < results.size(); ++o) {
      const bool is_bytes = network.tensor(network.outputs[o]).dtype == DType::u8;
      const std::string found = (is_bytes ? difference_of_bytes : difference)(expected[network.outputs[o]], results[o]);
      if (!found.empty()) return network.name + ", " + network.output_names[o] + ": " + found;
    }
  }
  return "";
}

}  // namespace ferry::test
