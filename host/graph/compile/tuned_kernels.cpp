#include "host/graph/compile/tuned_kernels.h"

#include "crosscompile/ir/error.h"
#include "host/graph/kernels/group_program.h"
#include "host/graph/loops.h"
#include "module/sized_variant.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

// Whether a further repeat may surround the kernel's steps wherever they are called.
bool may_be_repeated(const Loops& loops, const NetworkKernels& kernels, std::size_t kernel) {
  return std::ranges::all_of(kernels.calls, [&](const GroupCall& call) {
    return call.kernel != kernel || loops.around(call.group.nodes.back()).size() < kMaxRepeatDepth;
  });
}

}  // namespace

std::optional<lang::Program> fixed_program(const Graph& graph, const NetworkKernels& kernels, std::size_t kernel,
                                           const KernelKey& key, const std::string& name) {
  const lang::Program& program = kernels.programs[kernel];
  if (lang::symbols_of(program).empty()) return group_program(key, name);
  const auto is_scalar = [](const lang::Parameter& parameter) { return parameter.kind == ParameterKind::scalar; };
  if (key.hints.empty() || std::ranges::any_of(program.parameters, is_scalar) ||
      !may_be_repeated(Loops(graph), kernels, kernel))
    return std::nullopt;
  return group_program(key, name + "_tuned", key.hints);
}

std::vector<TunedKernel> tuned_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                                       const FindTuned& find, const TunedNodes& known) {
  std::vector<TunedKernel> tuned(kernels.programs.size());
  for (std::size_t k = 0; k < tuned.size(); ++k) {
    const bool has_symbols = !lang::symbols_of(kernels.programs[k]).empty();
    const auto sized = [&] { return fixed_program(graph, kernels, k, kernels.keys[k], kernels.programs[k].name); };
    const auto at = known.find(kernels.calls[kernels.first_call[k]].group.nodes.back());
    if (at != known.end()) {
      if (!at->second.note.empty()) tuned[k].notes.push_back(kernels.programs[k].name + ": " + at->second.note);
      if (!has_symbols) tuned[k].point = at->second.values;
      std::optional<lang::Program> program = has_symbols ? sized() : std::nullopt;
      if (program) tuned[k].sized = SizedKernel{*std::move(program), at->second.values};
      continue;
    }
    if (!find) continue;
    const Target& device = kernels.device_of(k) == kHostDevice ? *target.host : target;
    const auto found = [&](const lang::Program& program, const std::map<std::string, std::int64_t>& sizes) {
      std::optional<TunedPoint> point = find(program, sizes, device);
      if (point && !point->note.empty()) tuned[k].notes.push_back(program.name + ": " + point->note);
      return point ? std::optional(std::move(point->values)) : std::nullopt;
    };
    if (!has_symbols || !kernels.keys[k].hints.empty())
      tuned[k].point = found(kernels.programs[k], hints_for(kernels, k));
    if (!has_symbols) continue;
    std::optional<lang::Program> program = sized();
    std::optional<PointValues> point = program ? found(*program, {}) : std::nullopt;
    if (point) tuned[k].sized = SizedKernel{*std::move(program), *std::move(point)};
  }
  return tuned;
}

void attach_sized_kernels(const NetworkKernels& kernels, const std::vector<TunedKernel>& tuned, Manifest& manifest) {
  const auto find = [&](const std::string& name) {
    const auto found = std::ranges::find(manifest.functions, name, &FunctionInfo::name);
    if (found == manifest.functions.end()) throw InternalError("attach_sized_kernels: no function '" + name + "'");
    return found;
  };
  for (std::size_t k = 0; k < tuned.size(); ++k) {
    const std::optional<SizedKernel>& sized = tuned[k].sized;
    if (!sized) continue;
    const auto found = find(sized->program.name);
    FunctionInfo variant = std::move(*found);
    manifest.functions.erase(found);
    FunctionInfo& general = *find(kernels.programs[k].name);
    const std::map<std::string, std::int64_t> values = hints_for(kernels, k);
    std::vector<std::int64_t> sizes;
    for (const std::string& symbol : general.symbols) sizes.push_back(values.at(symbol));
    const Status status = attach_variant(general, std::move(variant), sizes);
    if (!status.is_ok()) throw InternalError(status.message());
  }
}

}  // namespace ferry::graph
