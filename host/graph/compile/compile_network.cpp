#include "host/graph/compile/compile_network.h"

#include "base/printable.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "host/graph/compile/describe_steps.h"
#include "host/graph/compile/device_storages.h"
#include "host/graph/compile/integer_costs.h"
#include "host/graph/compile/network_blob.h"
#include "host/graph/compile/network_kernels.h"
#include "host/graph/compile/place_kernels.h"
#include "host/graph/loops.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/plan/composition.h"
#include "host/graph/plan/network_function.h"
#include "module/init_plan.h"
#include "module/module_file.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace ferry::graph {
namespace {

const FunctionInfo& function_called(const Manifest& manifest, const std::string& name) {
  const auto found = std::ranges::find(manifest.functions, name, &FunctionInfo::name);
  if (found == manifest.functions.end()) throw InternalError("compile_network: no function '" + name + "'");
  return *found;
}

KernelCall call_of(const Graph& graph, const Manifest& manifest, const NetworkKernels& kernels, const GroupCall& call) {
  KernelCall result;
  result.node = name_of(graph, call.group);
  result.kernel = &function_called(manifest, kernels.programs[call.kernel].name);
  for (const TensorId id : call.arguments) result.tensors.push_back(graph.tensor(id).name);
  for (std::size_t s = 0; s < call.sizes.size(); ++s)
    result.sizes.emplace(symbol_name(s), to_manifest(call.sizes[s], graph.symbols));
  return result;
}

// Returns what the kernels of a loop read that is computed in front of it.
std::vector<TensorId> invariants_of(const Graph& graph, const Loops& loops, std::size_t loop,
                                    std::span<const GroupCall> calls) {
  std::vector<bool> is_inside(graph.tensors.size());
  for (std::size_t node = loops.all()[loop].begin; node < loops.all()[loop].end; ++node)
    for (const TensorId output : graph.nodes[node].outputs) is_inside[output] = true;
  std::vector<TensorId> invariants;
  for (const GroupCall& call : calls) {
    if (!loops.contains(loop, call.group.nodes.back())) continue;
    std::copy_if(call.arguments.begin(), call.arguments.end() - 1, std::back_inserter(invariants),
                 [&](TensorId input) { return !is_inside[input]; });
  }
  return invariants;
}

// Replaces the kernels' entries by the function that calls them.
void compose_network(const Graph& graph, const NetworkKernels& kernels, const TensorStorages& storages,
                     const NetworkBlob& blob, const Composition& common, ModuleFile& module) {
  Manifest& manifest = module.manifest;
  Composition composition = common;
  composition.storages = storages.storages;
  std::vector<Constant> constants = blob.constants();
  DeviceStorages on_devices(graph, storages, device_ids(manifest), composition, constants);
  const Loops loops(graph);
  const bool is_divided = manifest.devices.size() > 1;
  auto copy = storages.copies.begin();
  std::size_t next_node = 0;
  // Adds the copies before a node, and before those up to it, and begins and ends of loops.
  const auto add_steps_before = [&](std::size_t node) {
    for (; next_node <= node; ++next_node) {
      for (; copy != storages.copies.end() && copy->node == next_node; ++copy) {
        const Storage& to = composition.storages[copy->copy.to];
        on_devices.add_copy(copy->copy, next_node < graph.nodes.size() ? graph.nodes[next_node].name
                                                                       : composition.parameters[to.index].name);
      }
      if (next_node == graph.nodes.size()) continue;
      const Node& bracket = graph.nodes[next_node];
      const auto loop = static_cast<std::uint32_t>(loops.bracketed_by(next_node));
      if (bracket.op == Operator::loop) {
        if (is_divided) on_devices.begin_loop(invariants_of(graph, loops, loop, kernels.calls), kTargetDevice);
        const Size& count = loop_of(bracket).count;
        composition.steps.emplace_back(
            BeginLoop{loop, to_manifest(count, graph.symbols), bracket.name, !proves_less(-1, count),
                      loop_of(bracket).has_condition ? storages.of_tensor[bracket.outputs[0]] : kNoStorage});
      }
      if (bracket.op != Operator::end_loop) continue;
      if (is_divided) on_devices.end_loop();
      // A loop whose nodes need no steps is left out.
      if (std::holds_alternative<BeginLoop>(composition.steps.back()))
        composition.steps.pop_back();
      else
        composition.steps.emplace_back(EndLoop{loop});
    }
  };
  for (const GroupCall& group : kernels.calls) {
    add_steps_before(group.group.nodes.back());
    const std::uint32_t device = kernels.device_of(group.kernel);
    KernelCall call = call_of(graph, manifest, kernels, group);
    const TensorId result = group.arguments.back();
    for (const TensorId input : std::span(group.arguments).first(group.arguments.size() - 1))
      call.storages.push_back(on_devices.to_read(input, device));
    call.storages.push_back(on_devices.to_write(result, device));
    composition.steps.emplace_back(std::move(call));
    on_devices.written(result, device);
  }
  add_steps_before(graph.nodes.size());
  FunctionInfo function = compose(composition);
  std::vector<CountedOutput> counted = graph.counted;
  const auto inputs = static_cast<std::uint32_t>(graph.inputs.size());
  for (auto& [output, shape] : counted) output += inputs, shape += inputs;
  module.descriptions = encode_step_descriptions(describe_steps(graph, kernels, composition), counted);
  manifest.functions = {std::move(function)};
  if (!constants.empty()) {
    manifest.blobs = {blob.blob()};
    manifest.constants = std::move(constants);
  }
}

// Returns a sentence for each output that has another name as a parameter than in the network.
std::vector<std::string> notes_on_names(const Graph& graph, const FunctionInfo& function) {
  std::vector<std::string> notes;
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const std::string &name = function.parameters[graph.inputs.size() + o].name,
                      wanted = printable(graph.output_names[o]);
    const bool is_taken = std::any_of(
        function.parameters.begin(), function.parameters.begin() + static_cast<std::ptrdiff_t>(graph.inputs.size() + o),
        [&](const ParameterInfo& other) { return other.name == wanted; });
    if (name != wanted && is_taken)
      notes.push_back("the output '" + wanted + "' is called '" + name + "', because another parameter has its name");
  }
  return notes;
}

std::string note_on_labels(const std::string& what, const Labels& labels) {
  constexpr std::size_t kMost = 64;
  std::string all;
  for (std::size_t i = 0; i < std::min(labels.texts.size(), kMost); ++i)
    all += (i == 0 ? " " : ", ") + std::to_string(i) + " " + printable(labels.texts[i]);
  if (labels.texts.size() > kMost) all += ", ... (" + std::to_string(labels.texts.size()) + " in total)";
  return "the " + what + " has " + (labels.are_columns ? "a column for each class:" : "indices in place of texts:") +
         all;
}

// Returns a sentence for each input and output that has numbers in place of the model's texts.
std::vector<std::string> notes_on_labels(const Graph& graph) {
  std::vector<std::string> notes;
  for (const auto& [input, labels] : graph.input_labels)
    notes.push_back(note_on_labels("input '" + printable(graph.tensor(graph.inputs[input]).name) + "'", *labels));
  for (const auto& [output, labels] : graph.labels)
    notes.push_back(note_on_labels("output '" + printable(graph.output_names[output]) + "'", *labels));
  return notes;
}

// Returns a sentence for each kernel on the CPU beside the GPU.
std::vector<std::string> notes_on_host(const Graph& graph, const NetworkKernels& kernels) {
  std::vector<std::string> notes;
  for (std::size_t k = 0; k < kernels.keys.size(); ++k) {
    if (kernels.device_of(k) == kTargetDevice) continue;
    const Group& group = kernels.calls[kernels.first_call[k]].group;
    const auto others = std::ranges::count(kernels.calls, k, &GroupCall::kernel) - 1;
    const std::string more = others == 0 ? "" : " and " + std::to_string(others) + " with the same kernel";
    notes.push_back("node '" + name_of(graph, group) + "' (" + operators_of(graph, group) + ")" + more +
                    (others == 0 ? " runs" : " run") + " on the CPU beside the GPU: " + kernels.why_on_host[k]);
  }
  return notes;
}

// Returns the text of the schedules with the notes on the graph.
std::string with_notes(std::string schedule, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) schedule += tuned_line(note);
  return schedule;
}

// Returns whether there is a module with the network's constants.
bool load_cached(const CachedModuleSlot& cached, NetworkBlob& blob, std::vector<std::uint8_t>& module,
                 std::vector<std::string>& tuned) {
  std::optional<std::vector<std::uint8_t>> found = cached.load();
  if (!found) return false;
  const Result<ModuleFile> read = read_module(*found);
  if (!read.is_ok() || !blob.take_hash_from(read.value().manifest)) return false;
  tuned = tuned_notes(read.value().schedule);
  module = std::move(*found);
  return true;
}

}  // namespace

CompiledNetwork compile_network(const Graph& graph, const Target& target, const NetworkOptions& options) {
  return compile_optimized(optimized(graph, target, {}, options.sizes), target, options);
}

std::string schedule_text(const Graph& graph, const Target& target, const std::map<std::string, std::int64_t>& sizes,
                          const Tuning& tuning) {
  const TunedGraph chosen = with_tuned_algorithms(graph, target, sizes, tuning);
  const NetworkKernels kernels = place_kernels(chosen.graph, target, sizes).kernels;
  const std::vector<TunedKernel> tuned = tuned_kernels(chosen.graph, kernels, target, tuning.schedule, chosen.points);
  return with_notes(lower_kernels(chosen.graph, kernels, target, tuned).schedule, tuning.notes);
}

std::vector<KernelLoops> kernel_loops(const Graph& graph, const Target& target,
                                      const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning) {
  const TunedGraph chosen = with_tuned_algorithms(graph, target, sizes, tuning);
  const NetworkKernels kernels = place_kernels(chosen.graph, target, sizes).kernels;
  const std::vector<TunedKernel> tuned = tuned_kernels(chosen.graph, kernels, target, tuning.schedule, chosen.points);
  std::vector<KernelLoops> all;
  for (std::size_t k = 0; k < kernels.programs.size(); ++k) {
    const Target& device = kernels.device_of(k) == kHostDevice ? *target.host : target;
    all.push_back({{}, device, lower_kernel(kernels, k, device, tuned[k]).functions, tuned[k].notes});
  }
  for (const GroupCall& call : kernels.calls) all[call.kernel].nodes.push_back(name_of(graph, call.group));
  return all;
}

std::vector<KernelProgram> kernel_programs(const Graph& graph, const Target& target,
                                           const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning) {
  const TunedGraph chosen = with_tuned_algorithms(graph, target, sizes, tuning);
  const NetworkKernels kernels = place_kernels(chosen.graph, target, sizes).kernels;
  std::vector<KernelProgram> all;
  for (std::size_t k = 0; k < kernels.programs.size(); ++k) {
    if (kernels.device_of(k) != kTargetDevice) continue;
    const std::string& name = kernels.programs[k].name;
    std::optional<lang::Program> fixed = fixed_program(chosen.graph, kernels, k, kernels.keys[k], name);
    if (!fixed) continue;
    KernelProgram& one = all.emplace_back(KernelProgram{name, *std::move(fixed), {}});
    one.algorithms = algorithms_of(chosen.graph, kernels, k, target, tuning.allowed, sizes);
    for (const GroupCall& call : kernels.calls)
      if (call.kernel == k) one.nodes.push_back(name_of(graph, call.group));
  }
  return all;
}

CompiledNetwork compile_optimized(const Graph& graph, const Target& target, const NetworkOptions& options) {
  const auto blob = std::make_shared<NetworkBlob>(graph, assign_storages(graph).constants);
  const FunctionInfo described = describe_network(graph);
  CompiledNetwork result;
  result.notes = notes_on_names(graph, described);
  std::ranges::move(notes_on_labels(graph), std::back_inserter(result.notes));
  std::ranges::move(notes_on_integers(graph, target, {graph, options.sizes}), std::back_inserter(result.notes));
  if (!blob->constants().empty()) result.blobs = blob;
  if (options.cached != nullptr && load_cached(*options.cached, *blob, result.module, result.tuned)) return result;
  blob->hash_contents();
  Composition common;
  common.name = described.name;
  common.symbols = described.symbols;
  common.parameters = described.parameters;
  common.preconditions = described.preconditions;
  common.alignment = target.tensor_alignment;
  common.guesses = options.sizes;
  const TunedGraph chosen = with_tuned_algorithms(graph, target, options.sizes, options.tuned);
  const PlacedKernels placed = place_kernels(chosen.graph, target, options.sizes);
  const NetworkKernels& kernels = placed.kernels;
  const std::vector<TunedKernel> tuned =
      tuned_kernels(chosen.graph, kernels, target, options.tuned.schedule, chosen.points);
  LoweredKernels lowered = lower_kernels(chosen.graph, kernels, target, tuned);
  lowered.schedule = with_notes(std::move(lowered.schedule), options.tuned.notes);
  result.tuned = tuned_notes(lowered.schedule);
  std::vector<DeviceFunctions> parts{{lowered.functions[kTargetDevice], target}};
  if (!lowered.functions[kHostDevice].empty()) parts.push_back({lowered.functions[kHostDevice], *target.host});
  ModuleBytes compiled =
      compile_module(parts, {.source = options.source,
                             .schedule = lowered.schedule,
                             .compose =
                                 [&](ModuleFile& module) {
                                   attach_sized_kernels(kernels, tuned, module.manifest);
                                   compose_network(chosen.graph, kernels, placed.storages, *blob, common, module);
                                 },
                             .form = options.form,
                             .init_target = options.init_target});
  result.module = std::move(compiled.bytes);
  result.module_notes = std::move(compiled.notes);
  std::ranges::move(notes_on_host(graph, kernels), std::back_inserter(result.notes));
  if (options.cached != nullptr) options.cached->store(result.module);
  return result;
}

}  // namespace ferry::graph
