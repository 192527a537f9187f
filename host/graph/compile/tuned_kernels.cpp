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

std::optional<lang::Program> sized_program(const Graph& graph, const NetworkKernels& kernels, std::size_t kernel) {
  const KernelKey& key = kernels.keys[kernel];
  const lang::Program& program = kernels.programs[kernel];
  const auto is_scalar = [](const lang::Parameter& parameter) { return parameter.kind == ParameterKind::scalar; };
  if (key.hints.empty() || std::ranges::any_of(program.parameters, is_scalar) ||
      !may_be_repeated(Loops(graph), kernels, kernel))
    return std::nullopt;
  return group_program(key, program.name + "_tuned", key.hints);
}

std::vector<TunedKernel> tuned_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                                       const FindTuned& find) {
  std::vector<TunedKernel> tuned(kernels.programs.size());
  if (!find) return tuned;
  for (std::size_t k = 0; k < tuned.size(); ++k) {
    const Target& device = kernels.device_of(k) == kHostDevice ? *target.host : target;
    const auto found = [&](const lang::Program& program, const std::map<std::string, std::int64_t>& sizes) {
      std::optional<TunedPoint> point = find(program, sizes, device);
      if (point && !point->note.empty()) tuned[k].notes.push_back(program.name + ": " + point->note);
      return point ? std::optional(std::move(point->values)) : std::nullopt;
    };
    const bool has_symbols = !lang::symbols_of(kernels.programs[k]).empty();
    if (!has_symbols || !kernels.keys[k].hints.empty())
      tuned[k].point = found(kernels.programs[k], hints_for(kernels, k));
    if (!has_symbols) continue;
    std::optional<lang::Program> program = sized_program(graph, kernels, k);
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
