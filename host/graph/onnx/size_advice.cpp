#include "host/graph/onnx/size_advice.h"

#include <algorithm>

#include "base/printable.h"
#include "base/quantity_text.h"

namespace ferry::graph::onnx {
namespace {

// Sizes of batches, sequences and images.
constexpr std::int64_t kUsual[] = {1, 64, 224, 16};

std::vector<std::string> open_sizes(const Graph& graph) {
  std::vector<std::string> names;
  for (const TensorId id : graph.inputs)
    for (const Size& size : graph.tensor(id).shape)
      for (const std::string& name : size.symbols())
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

std::string fixing(const std::vector<std::string>& names) {
  std::vector<std::string> sizes;
  for (const std::string& name : names) sizes.push_back(name + "=SIZE");
  return "ferry imports this network if " + join(", ", names) + (names.size() == 1 ? " is" : " are") +
         " the same in every call: --fix " + join(",", sizes);
}

// Returns the inputs that may decide shapes: few integers.
std::string binding(const Graph& graph) {
  std::vector<std::string> inputs;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensor(id);
    if (!is_float(tensor.dtype) && tensor.dtype != DType::boolean && tensor.shape.size() <= 1)
      inputs.push_back(printable(tensor.name) + "=@FILE.npy");
  }
  return inputs.empty()
             ? ""
             : "inputs that decide shapes may be bound to their contents: --bind " + join(", --bind ", inputs);
}

}  // namespace

std::string advice_on_sizes(const Graph& graph, const std::vector<std::string>& refusals, std::size_t most_trials,
                            const ImportWithSizes& is_imported) {
  const std::vector<std::string> open = open_sizes(graph);
  std::size_t trials = 0;
  for (const std::string& name : open)
    for (const std::int64_t value : kUsual)
      if (trials++ < most_trials && is_imported({{name, value}})) return fixing({name});
  for (const std::int64_t value : kUsual) {
    std::map<std::string, std::int64_t> all;
    for (const std::string& name : open) all.emplace(name, value);
    if (open.size() > 1 && trials++ < most_trials && is_imported(all)) return fixing(open);
  }
  const bool can_bind = std::ranges::any_of(
      refusals, [](const std::string& refusal) { return refusal.find("bind the input") != std::string::npos; });
  return can_bind ? binding(graph) : "";
}

}  // namespace ferry::graph::onnx
