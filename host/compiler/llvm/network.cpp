#include "host/compiler/llvm/network.h"

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/init_target.h"
#include "host/compiler/llvm/cached_module.h"
#include "host/compiler/llvm/emit.h"
#include "host/compiler/llvm/inspect_network.h"
#include "host/compiler/llvm/network_tuning.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/graph_hash.h"
#include "host/graph/graph_text.h"
#include "host/graph/index_limits.h"
#include "host/graph/loops.h"
#include "host/graph/onnx/import.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/plan/byte_ranges.h"
#include "host/graph/plan/network_function.h"
#include "host/graph/reference/all_outputs.h"
#include "host/graph/reference/definition.h"
#include "module/module_file.h"
#include "module/step_description.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace ferry {

namespace {

constexpr const char* kAsImported = "import";

using AfterPass = std::function<void(std::string_view pass, const graph::Graph& now)>;

// Adds a line for each schedule that tuning has found, or two for many.
void add_tuned(const std::vector<std::string>& tuned, std::vector<std::string>& notes) {
  constexpr std::size_t kMost = 4;
  if (tuned.size() <= kMost) {
    notes.insert(notes.end(), tuned.begin(), tuned.end());
    return;
  }
  notes.push_back(tuned.front());
  notes.push_back("so are those of " + std::to_string(tuned.size() - 1) + " more kernels");
}

// Returns a line for each step, and the nodes that it computes.
std::string plan_text(const Compiled& compiled) {
  const Result<ModuleFile> file = read_module(compiled.module);
  if (!file.is_ok()) throw InternalError("emit: " + file.status().message());
  const std::vector<StepDescription> steps = value_or_throw(step_descriptions(file.value()));
  const FunctionInfo& function = file.value().manifest.functions.front();
  const std::vector<std::string> devices = device_ids(file.value().manifest);
  std::string text;
  for (std::size_t s = 0; s < function.plan.steps.size(); ++s) {
    const Step& step = function.plan.steps[s];
    const std::optional<std::uint32_t> device = device_of(function, step);
    text += steps[s].node + "\n  " + (device && devices.size() > 1 ? devices[*device] + ": " : "") +
            step_text(function, step) + "\n";
  }
  return text;
}

std::string comment(Stage stage, std::string text) {
  for (std::size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at)) text.insert(at + 1, " ");
  if (stage == Stage::llvm) return "; " + text + "\n";
  return stage == Stage::assembly ? "/* " + text + " */\n" : "// " + text + "\n";
}

// Shows each kernel beneath a line for each of its calls, which names the nodes.
Emission emit_kernels(Stage stage, std::vector<graph::KernelLoops> kernels, const std::string& after) {
  Emission all;
  std::vector<std::string> tuned;
  for (graph::KernelLoops& kernel : kernels) {
    std::ranges::move(kernel.tuned, std::back_inserter(tuned));
    if (!all.text.empty()) all.text += "\n";
    for (const std::string& node : kernel.nodes) all.text += comment(stage, printable(node));
    Emission one = emit_functions(stage, kernel.functions, kernel.target, after);
    all.text += one.text;
    if (!one.text.ends_with('\n')) all.text += "\n";
    std::ranges::move(one.notes, std::back_inserter(all.notes));
  }
  add_tuned(tuned, all.notes);
  return all;
}

// Completes the names of a model with those of the graph that it has become.
NetworkNames names_in(const graph::Graph& graph, NetworkNames names) {
  names.inputs.clear();
  for (const graph::TensorId id : graph.inputs) names.inputs.push_back(graph.tensor(id).name);
  names.outputs = graph.output_names;
  names.index_limits = graph::index_limits(graph);
  for (const auto& [output, labels] : graph.labels)
    if (!labels->are_columns) names.labels[graph.output_names[output]] = labels->texts;
  for (const auto& [input, labels] : graph.input_labels) {
    names.input_labels[names.inputs[input]] = labels->texts;
    names.index_limits[input] = static_cast<std::int64_t>(labels->texts.size());
  }
  return names;
}

NetworkNames names_of(const graph::onnx::Model& model) {
  NetworkNames names;
  for (const graph::onnx::ModelNode& node : model.nodes) {
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      names.tensors.push_back(output);
      names.nodes.emplace(node.name, output);
    }
  }
  return names;
}

class GraphNetwork final : public Network {
 public:
  // `names` has those of tensors and nodes, `points` what is known of kernels whose algorithms tuning has found.
  GraphNetwork(graph::Graph graph, Origin origin, const ModuleCache& cache, const NetworkNames& names = {},
               graph::TunedNodes points = {})
      : graph_(std::move(graph)),
        function_(graph::describe_network(graph_)),
        names_(names_in(graph_, names)),
        origin_(std::move(origin)),
        cache_(cache),
        points_(std::move(points)) {}

  const FunctionInfo& function() const override { return function_; }

  Compiled compile(const NetworkRequest& request) const override {
    // Modules for programs are not cached.
    const bool is_for_devices = request.form == CodeForm::linked || request.form == CodeForm::relinkable;
    std::optional<CachedModule> cached;
    if (cache_.is_on() && is_for_devices) cached.emplace(cache_, origin_, request);
    std::optional<Target> here;
    if (!is_for_devices) here = init_target();
    const Optimized optimized = optimized_for(request.target, request.sizes, request.tuned);
    graph::CompiledNetwork compiled = compile_optimized(optimized.graph, request.target,
                                                        {.sizes = request.sizes,
                                                         .cached = cached ? &*cached : nullptr,
                                                         .form = request.form,
                                                         .init_target = here ? &*here : nullptr,
                                                         .tuned = tuning_of(request.tuned, optimized.notes)});
    add_tuned(compiled.tuned, compiled.notes);
    return {.module = std::move(compiled.module),
            .notes = std::move(compiled.notes),
            .module_notes = std::move(compiled.module_notes),
            .blobs = std::move(compiled.blobs)};
  }

  std::optional<Hash> identity(const NetworkRequest& request) const override { return key_of(origin_, request); }

  NetworkIdentity network_identity() const override { return {function_.name, graph::graph_hash(graph_)}; }

  Emission emit(Stage stage, const NetworkRequest& request, const std::string& after) const override {
    if (stage == Stage::plan) return {.text = plan_text(compile(request))};
    if (stage == Stage::graph && !after.empty()) return {.text = graph_after(after, request)};
    const Optimized optimized = optimized_for(request.target, request.sizes, request.tuned);
    if (stage == Stage::graph) return {.text = to_text(optimized.graph)};
    if (stage == Stage::groups) return {.text = groups_text(optimized.graph, make_groups(optimized.graph))};
    const graph::Tuning tuning = tuning_of(request.tuned, optimized.notes);
    if (stage == Stage::schedule) {
      Emission schedules{.text = schedule_text(optimized.graph, request.target, request.sizes, tuning)};
      add_tuned(graph::tuned_notes(schedules.text), schedules.notes);
      return schedules;
    }
    return emit_kernels(stage, graph::kernel_loops(optimized.graph, request.target, request.sizes, tuning), after);
  }

  std::vector<NetworkProgram> kernels(const NetworkRequest& request) const override {
    std::vector<NetworkProgram> all;
    const Optimized optimized = optimized_for(request.target, request.sizes, request.tuned);
    for (graph::KernelProgram& kernel : graph::kernel_programs(optimized.graph, request.target, request.sizes,
                                                               tuning_of(request.tuned, optimized.notes))) {
      NetworkProgram& one = all.emplace_back(
          NetworkProgram{std::move(kernel.kernel), std::move(kernel.program), std::move(kernel.nodes)});
      one.algorithm = std::move(kernel.algorithms.chosen);
      for (const graph::AlgorithmProgram& other : kernel.algorithms.others) one.others.push_back(other_of(other));
    }
    return all;
  }

  NetworkLayouts layouts(const NetworkRequest& request) const override {
    NetworkLayouts found;
    if (origin_.all_outputs_for) return found;
    graph::Algorithms reading = algorithms();
    reading.layouts = read_layouts(found, request.sizes, algorithms());
    (void)graph::optimized(graph_, request.target, reading, request.sizes);
    return found;
  }

  std::string least_cost_layouts(const NetworkLayouts& layouts) const override {
    return ferry::least_cost_layouts(layouts);
  }

  const NetworkSource& source() const override { return origin_.source; }
  const NetworkNames& names() const override { return names_; }

  std::shared_ptr<const Network> with_outputs(const std::vector<std::string>& tensors) const override {
    NetworkSource source = origin_.source;
    source.outputs = tensors;
    return read_network(source, cache_);
  }

  std::shared_ptr<const Network> with_all_outputs(const Target& target, const SizesByName& sizes,
                                                  const TunedSchedules* tuned) const override {
    Origin origin = origin_;
    origin.all_outputs_for = target;
    origin.all_outputs_at = sizes;
    graph::TunedGraph chosen =
        with_tuned_algorithms(optimized_for(target, sizes, tuned).graph, target, sizes, tuning_of(tuned));
    origin.all_outputs_algorithms = tuned != nullptr ? std::optional(tuned->identity(target)) : std::nullopt;
    return std::make_shared<const GraphNetwork>(graph::with_all_outputs(std::move(chosen.graph)), std::move(origin),
                                                cache_, names_, std::move(chosen.points));
  }

  std::vector<NodeProgram> nodes(const SizesByName& sizes) const override {
    const graph::HeldTensors held(graph_);
    const graph::Loops loops(graph_);
    const auto begin_of = [&](std::size_t loop) -> const graph::Node& { return graph_.nodes[loops.all()[loop].begin]; };
    std::vector<NodeProgram> programs;
    for (const graph::Group& group : graph::make_groups(graph_)) {
      const std::vector<std::size_t> around = loops.around(group.nodes.back());
      // No network holds the results of all iterations.
      if (std::ranges::any_of(around, [&](auto loop) { return is_unbounded(graph::loop_of(begin_of(loop))); }))
        continue;
      graph::GroupDefinition definition = graph::definition_of(graph_, group, sizes);
      NodeProgram program{name_of(graph_, group),
                          std::move(definition.program),
                          std::move(definition.symbols),
                          std::move(definition.scalars),
                          {}};
      if (auto algorithm = graph::algorithm_of(graph_, group, sizes))
        program.algorithm = NodeAlgorithm{std::move(algorithm->program), std::move(algorithm->symbols)};
      const graph::Tensor& result = graph_.tensor(definition.tensors.back());
      if (result.channel_block > 1) program.channels = graph::value_of(result.shape[1], sizes);
      for (const std::size_t loop : around)
        program.counts.push_back(graph::value_of(graph::loop_of(begin_of(loop)).count, sizes));
      const auto held_tensor = [&](graph::TensorId id) {
        const graph::HeldTensor tensor = held.find(id);
        NodeTensor node_tensor = tensor_of(tensor.tensor, held.origins());
        // What is computed in outer loops is the same in all iterations of inner ones.
        node_tensor.strides.resize(program.counts.size(), 0);
        std::int64_t bytes = graph::value_of(graph::byte_count(graph_.tensor(id)), sizes);
        for (std::size_t l = tensor.loops.size(); l-- > 0; bytes *= program.counts[l]) node_tensor.strides[l] = bytes;
        return node_tensor;
      };
      for (const std::size_t loop : around)
        if (graph::loop_of(begin_of(loop)).has_condition)
          program.conditions.push_back(held_tensor(begin_of(loop).outputs[0]));
      for (const graph::TensorId id : definition.tensors) program.tensors.push_back(held_tensor(id));
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

  graph::Algorithms algorithms() const {
    return {.winograd = origin_.source.winograd,
            .int8 = origin_.source.int8 != Int8Mode::off,
            .float32 = origin_.source.int8 != Int8Mode::always,
            .max_error = origin_.source.max_error};
  }

  // A network whose kernels all have outputs has its algorithms already.
  graph::Tuning tuning_of(const TunedSchedules* tuned, const std::vector<std::string>& notes = {}) const {
    graph::Tuning tuning;
    tuning.allowed = algorithms();
    tuning.notes = notes;
    if (tuned == nullptr) return tuning;
    tuning.schedule = find_schedules(*tuned, network_identity());
    tuning.known = points_;
    if (!origin_.all_outputs_for) tuning.algorithm = find_algorithms(*tuned, network_identity());
    return tuning;
  }

  struct Optimized {
    graph::Graph graph;
    std::vector<std::string> notes = {};  // on what tuning has found
  };

  Optimized optimized_for(const Target& target, const SizesByName& sizes, const TunedSchedules* tuned,
                          const AfterPass& after = {}) const {
    if (origin_.all_outputs_for) return {graph_};
    Optimized result;
    graph::Algorithms with_layouts = algorithms();
    if (tuned != nullptr)
      with_layouts.layouts = find_layouts(*tuned, network_identity(), target, sizes, algorithms(), result.notes);
    result.graph = graph::optimized(graph_, target, with_layouts, sizes, after);
    return result;
  }

  std::string graph_after(const std::string& after, const NetworkRequest& request) const {
    std::vector<std::string> names = {kAsImported};
    for (const graph::GraphPass& pass : graph::graph_passes()) names.emplace_back(pass.name);
    expect_pass(after, names);
    if (after == kAsImported) return to_text(graph_);
    std::string text;
    (void)optimized_for(request.target, request.sizes, request.tuned,
                        [&](std::string_view pass, const graph::Graph& now) {
                          if (pass == after) text = to_text(now);
                        });
    return text;
  }

  graph::Graph graph_;
  FunctionInfo function_;
  NetworkNames names_;
  Origin origin_;
  ModuleCache cache_;
  graph::TunedNodes points_;
};

}  // namespace

std::shared_ptr<const Network> read_network(const NetworkSource& source, const ModuleCache& cache) {
  const auto now = std::chrono::system_clock::now();
  const graph::onnx::Model model = graph::onnx::read_model(source.file);
  const graph::onnx::ImportOptions options = import_options(source);
  graph::onnx::Imported imported = import_model(model, options);
  if (!imported.refusals.empty()) {
    const std::string advice = advice_on_refusals(model, options, imported);
    throw CompileError(join("\n", imported.refusals) + (advice.empty() ? "" : "\n" + advice));
  }
  graph::Graph network = std::move(imported.graph);
  network.name = std::filesystem::path(source.file).stem().string();
  return std::make_shared<const GraphNetwork>(std::move(network), Origin{source, model.files, now}, cache,
                                              names_of(model));
}

std::shared_ptr<const Network> make_network(graph::Graph graph, const NetworkSource& source) {
  Origin origin;
  origin.source = source;
  return std::make_shared<const GraphNetwork>(std::move(graph), std::move(origin), ModuleCache());
}

}  // namespace ferry
