#include "host/kernel/default_indices.h"

#include <algorithm>

#include "host/kernel/argument_spec.h"

namespace ferry {

void add_default_indices(const KernelSource& source, CallOptions& call) {
  const NetworkKernel* network = source.as_network();
  if (network == nullptr) return;
  const FunctionInfo& function = network->network->function();
  const std::vector<std::string> names = parameter_names(function);
  std::vector<std::string> described;
  for (const std::string& text : call.arguments) described.push_back(parse_argument(text, names).name);
  for (const auto& [input, rows] : network->network->names().index_limits) {
    const std::string& name = function.parameters.at(input).name;
    if (std::ranges::find(described, name) == described.end() && !call.given.contains(name))
      call.arguments.push_back(name + "=:below(" + std::to_string(rows) + ")");
  }
}

}  // namespace ferry
