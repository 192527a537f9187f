#include "host/compiler/llvm/network.h"

#include "crosscompile/ir/error.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/graph_text.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/plan/network_function.h"
#include "host/graph/reference/all_outputs.h"
#include "host/graph/reference/definition.h"
#include "module/module_file.h"

#include <utility>

namespace ferry {

namespace {

// Returns a line for each step, and the nodes that it computes.
std::string plan_text(const Compiled& compiled) {
  const Result<ModuleFile> file = read_module(compiled.module);
  if (!file.is_ok()) throw InternalError("emit: " + file.status().message());
  const FunctionInfo& function = file.value().manifest.functions.front();
  std::string text;
  for (std::size_t s = 0; s < function.plan.steps.size(); ++s)
    text += compiled.nodes[s] + "\n  " + step_text(function, function.plan.steps[s]) + "\n";
  return text;
}

class GraphNetwork final : public Network {
 public:
  explicit GraphNetwork(graph::Graph graph, bool is_optimized = false)
      : graph_(std::move(graph)), is_optimized_(is_optimized), function_(graph::describe(graph_)) {}

  const FunctionInfo& function() const override { return function_; }

  Compiled compile(const NetworkRequest& request) const override {
    graph::CompiledNetwork compiled =
        compile_optimized(optimized_for(request.target), request.target, {request.sizes, {}, request.code_padding});
    return {
        .module = std::move(compiled.module), .blobs = std::move(compiled.blobs), .nodes = std::move(compiled.nodes)};
  }

  std::string emit(Stage stage, const NetworkRequest& request) const override {
    if (stage == Stage::plan) return plan_text(compile(request));
    const graph::Graph optimized = optimized_for(request.target);
    if (stage == Stage::graph) return to_text(optimized);
    if (stage == Stage::groups) return groups_text(optimized, make_groups(optimized));
    if (stage == Stage::schedule) return schedule_text(optimized, request.target, request.sizes);
    throw InternalError("emit: expected a stage of networks");
  }

  std::shared_ptr<const Network> with_all_outputs(const Target& target) const override {
    return std::make_shared<const GraphNetwork>(graph::with_all_outputs(optimized_for(target)), true);
  }

  std::vector<NodeProgram> nodes(const SizesByName& sizes) const override {
    const std::vector<graph::TensorId> origins = graph::origins_of(graph_);
    std::vector<NodeProgram> programs;
    for (const graph::Group& group : graph::make_groups(graph_)) {
      graph::GroupDefinition definition = graph::definition_of(graph_, group, sizes);
      NodeProgram program{name_of(graph_, group),
                          std::move(definition.program),
                          std::move(definition.symbols),
                          std::move(definition.scalars),
                          {}};
      for (const graph::TensorId id : definition.tensors) program.tensors.push_back(tensor_of(origins[id], origins));
      programs.push_back(std::move(program));
    }
    return programs;
  }

 private:
  NodeTensor tensor_of(graph::TensorId id, const std::vector<graph::TensorId>& origins) const {
    if (const auto& constant = graph_.tensor(id).constant; constant != nullptr) return {0, constant->bytes, true};
    std::size_t parameter = 0;
    for (const graph::TensorId input : graph_.inputs) {
      if (input == id) return {parameter};
      ++parameter;
    }
    for (const graph::TensorId output : graph_.outputs) {
      if (origins[output] == id) return {parameter};
      ++parameter;
    }
    throw InternalError("expected a network with the outputs of all nodes");
  }

  graph::Graph optimized_for(const Target& target) const {
    return is_optimized_ ? graph_ : graph::optimized(graph_, target);
  }

  graph::Graph graph_;
  bool is_optimized_ = false;
  FunctionInfo function_;
};

}  // namespace

std::shared_ptr<const Network> make_network(graph::Graph graph) {
  return std::make_shared<const GraphNetwork>(std::move(graph));
}

}  // namespace ferry
