#include "host/graph/onnx/import.h"

#include <algorithm>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/ir/error.h"
#include "host/graph/empty_sizes.h"
#include "host/graph/onnx/graph_import.h"
#include "host/graph/onnx/input_values.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/size_advice.h"
#include "host/graph/prune.h"

namespace ferry::graph::onnx {
namespace {

class ModelImport {
 public:
  ModelImport(const Model& model, const ImportOptions& options, const std::set<std::string>& from_zero)
      : model_(model), options_(options), nodes_(model, builder_) {
    builder_.graph.from_zero.assign(from_zero.begin(), from_zero.end());
  }

  Imported run() {
    builder_.graph.name = model_.name;
    builder_.most_unrolled = options_.most_unrolled;
    count_operators(model_.nodes, model_.opsets);
    for (const auto& [name, function] : model_.functions) count_operators(function.nodes, function.opsets);
    for (auto& [name, count] : counts_) imported_.operators.push_back(std::move(count));
    input_values(model_, options_, builder_, scope_);
    for (const auto& [name, constant] : model_.initializers) {
      if (options_.bindings.contains(name)) continue;
      scope_.add_initializer(name, constant);
      if (constant.data == nullptr || !is_float(constant.dtype)) continue;
      imported_.parameters += constant.data->bytes.size() / dtype_bytes(constant.dtype);
    }
    nodes_.run(scope_);
    imported_.refusals = nodes_.refusals();
    if (imported_.refusals.empty()) {
      add_outputs();
      builder_.bound_data_sizes();
      imported_.graph = prune(builder_.graph);
    } else {
      imported_.graph = std::move(builder_.graph);
    }
    return std::move(imported_);
  }

 private:
  // Counts nodes with those of loops and branches, each once.
  void count_operators(const std::vector<ModelNode>& nodes, const Opsets& opsets) {
    for (const ModelNode& node : nodes) {
      const std::string name = qualified_name(node.domain, node.op);
      const auto opset = opsets.find(node.domain);
      OperatorCount& count = counts_[name];
      count.op = printable(name);
      count.is_imported = model_.functions.contains(name) ||
                          (opset != opsets.end() && find_importer(node.domain, node.op, opset->second) != nullptr);
      ++count.nodes;
      for (const auto& [attribute, value] : node.attributes) {
        const auto* body = std::get_if<ModelGraphRef>(&value);
        if (body != nullptr) count_operators((*body)->nodes, opsets);
      }
    }
  }

  void add_output(const std::string& name, const Value& value) {
    if (value.labels != nullptr) builder_.graph.labels[builder_.graph.outputs.size()] = value.labels;
    builder_.graph.outputs.push_back(builder_.tensor_of(value));
    builder_.graph.output_names.push_back(name);
  }

  void add_outputs() {
    for (const ValueInfo& output : model_.outputs) {
      const std::string what = "output '" + printable(output.name) + "'";
      const Value* value = scope_.find(output.name);
      if (value == nullptr) throw UsageError(what + ": expected a tensor that the model computes, got none");
      if (output.dtype && *output.dtype != value->type.dtype) {
        throw UsageError(what + ": expected " + dtype_name(value->type.dtype) + ", which the model computes, got " +
                         output.type_name + " as its declaration");
      }
      add_output(output.name, *value);
    }
    for (const std::string& name : options_.outputs) {
      if (std::ranges::find(model_.outputs, name, &ValueInfo::name) != model_.outputs.end()) continue;
      const Value* value = scope_.find(name);
      if (value == nullptr)
        throw UsageError("expected a tensor that the model computes, got '" + printable(name) + "'");
      add_output(name, *value);
    }
  }

  const Model& model_;
  const ImportOptions& options_;
  Imported imported_;
  std::map<std::string, OperatorCount> counts_;
  GraphBuilder builder_;
  Scope scope_;
  GraphImport nodes_;
};

}  // namespace

// Operators that ferry lacks are refused with all sizes.
std::string advice_on_refusals(const Model& model, const ImportOptions& options, const Imported& imported) {
  constexpr std::size_t kMostNodes = 100'000, kMostTrials = 32;
  const bool lacks_operator =
      std::ranges::any_of(imported.operators, [](const OperatorCount& one) { return !one.is_imported; });
  if (lacks_operator) return "";
  const auto is_imported = [&](const std::map<std::string, std::int64_t>& sizes) {
    ImportOptions fixed = options;
    fixed.sizes.insert(sizes.begin(), sizes.end());
    try {
      return ModelImport(model, fixed, {}).run().refusals.empty();
    } catch (const Error&) {
      return false;
    }
  };
  const std::size_t trials = std::min(kMostTrials, kMostNodes / std::max<std::size_t>(model.nodes.size(), 1));
  return advice_on_sizes(imported.graph, imported.refusals, trials, is_imported);
}

// A network whose sizes may be 0 needs arithmetic on them that holds for 0, which decides less. So it is imported
// again, and taken where all of it is supported.
Imported import_model(const Model& model, const ImportOptions& options) {
  Imported imported = ModelImport(model, options, {}).run();
  if (!imported.refusals.empty()) return imported;
  const std::set<std::string> from_zero = symbols_to_take_from_zero(imported.graph);
  if (from_zero.empty()) return imported;
  try {
    Imported general = ModelImport(model, options, from_zero).run();
    const bool requires_no_more = general.graph.requirements.size() <= imported.graph.requirements.size();
    if (general.refusals.empty() && requires_no_more) return general;
  } catch (const Error&) {
    // The first import stands.
  }
  return imported;
}

Graph import_graph(const Model& model, const ImportOptions& options) {
  Imported imported = import_model(model, options);
  if (!imported.refusals.empty()) throw CompileError(join("\n", imported.refusals));
  return std::move(imported.graph);
}

}  // namespace ferry::graph::onnx
