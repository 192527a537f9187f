#include "host/graph/compile/network_kernels.h"

#include "base/lines.h"
#include "base/parallel_for.h"
#include "base/printable.h"
#include "crosscompile/ir/error.h"
#include "ferry/schedule/module_schedule.h"
#include "host/graph/kernels/group_program.h"
#include "host/graph/plan/last_reads.h"
#include "host/lower/lower.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <unordered_map>

namespace ferry::graph {
namespace {

constexpr std::string_view kTunedLine = "# tuned: ";

// Calls action(), and names the group in its errors.
template <class Action>
auto for_group(const Graph& graph, const Group& group, const Action& action) {
  try {
    return action();
  } catch (const CompileError& error) {
    throw CompileError("node '" + name_of(graph, group) + "' (" + operators_of(graph, group) + "): " + error.what());
  }
}

// Returns the values of sizes whose symbols are known, all or none.
std::vector<std::int64_t> hints_of(const std::vector<Size>& sizes, const std::map<std::string, std::int64_t>& known) {
  std::vector<std::string> names;
  std::vector<std::int64_t> numbers;
  for (const auto& [name, value] : known) {
    names.push_back(name);
    numbers.push_back(value);
  }
  std::vector<std::int64_t> hints;
  for (const Size& size : sizes) {
    const std::vector<std::string> symbols = size.symbols();
    if (!std::ranges::all_of(symbols, [&](const std::string& symbol) { return known.contains(symbol); })) return {};
    const Result<std::int64_t> value = evaluate(to_manifest(size, names), numbers);
    if (!value.is_ok()) return {};
    hints.push_back(value.value());
  }
  return hints;
}

// Gives each storage its device.
void place_storages(const NetworkKernels& kernels, TensorStorages& storages) {
  std::vector<std::optional<std::uint32_t>> devices(storages.storages.size());
  const auto whole = [&](TensorId tensor) { return whole_of(storages.storages, storages.of_tensor[tensor]); };
  const auto is_constant = [&](std::uint32_t storage) {
    return storages.storages[storage].kind == Storage::Kind::constant;
  };
  const auto use = [&](std::uint32_t storage, std::uint32_t device) {
    devices[storage] = devices[storage].value_or(device) == device ? device : kTargetDevice;
  };
  for (std::uint32_t s = 0; s < devices.size(); ++s)
    if (storages.storages[s].kind == Storage::Kind::argument) devices[s] = kTargetDevice;
  for (const GroupCall& call : kernels.calls)
    for (const TensorId tensor : call.arguments)
      if (tensor == call.arguments.back() || is_constant(whole(tensor)))
        use(whole(tensor), kernels.device_of(call.kernel));
  for (const PlacedCopy& copy : storages.copies) {
    const std::uint32_t to = whole_of(storages.storages, copy.copy.to);
    if (copy.copy.from == kNoStorage) {
      use(to, kTargetDevice);
      continue;
    }
    const std::uint32_t from = whole_of(storages.storages, copy.copy.from);
    if (!is_constant(from)) use(to, kTargetDevice);
    if (!devices[from]) devices[from] = devices[to];
  }
  for (std::uint32_t s = 0; s < devices.size(); ++s)
    storages.storages[s].device = devices[whole_of(storages.storages, s)].value_or(kTargetDevice);
}

}  // namespace

PlacedKernels kernels_of(const Graph& graph, const std::vector<Group>& groups,
                         const std::map<std::string, std::int64_t>& sizes, std::vector<std::string> why_on_host) {
  PlacedKernels placed{assign_storages(graph), {}};
  auto& [storages, kernels] = placed;
  std::unordered_multimap<std::size_t, std::size_t> known;  // programs by the hashes of their keys
  std::vector<std::vector<std::size_t>> updatable;          // for each program, inputs that its result may replace
  const std::vector<std::vector<TensorId>> last = last_reads(graph, groups, storages);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for_group(graph, groups[g], [&] {
      GroupKernel kernel = kernel_of(graph, groups[g]);
      kernel.key.hints = hints_of(kernel.sizes, sizes);
      std::erase_if(kernel.updatable, [&](std::size_t input) {
        return std::ranges::find(last[g], kernel.arguments[input]) == last[g].end();
      });
      const std::size_t hash = hash_of(kernel.key);
      const auto [first, end] = known.equal_range(hash);
      const auto same =
          std::find_if(first, end, [&](const auto& one) { return kernels.keys[one.second] == kernel.key; });
      const std::size_t index = same == end ? kernels.keys.size() : same->second;
      if (same == end) {
        kernels.keys.push_back(kernel.key);
        kernels.first_call.push_back(kernels.calls.size());
        updatable.push_back(kernel.updatable);
        known.emplace(hash, index);
      }
      std::erase_if(updatable[index], [&](std::size_t input) {
        return std::ranges::find(kernel.updatable, input) == kernel.updatable.end();
      });
      kernels.calls.push_back({groups[g], index, std::move(kernel.sizes), std::move(kernel.arguments)});
    });
  }
  kernels.why_on_host = std::move(why_on_host);
  kernels.why_on_host.resize(kernels.keys.size());
  place_storages(kernels, storages);
  // A tensor in the memory of the other device would have to be copied there and back.
  for (const GroupCall& call : kernels.calls) {
    std::erase_if(updatable[call.kernel], [&](std::size_t input) {
      const std::uint32_t storage = whole_of(storages.storages, storages.of_tensor[call.arguments[input]]);
      return storages.storages[storage].device != kernels.device_of(call.kernel);
    });
  }
  for (std::size_t k = 0; k < kernels.keys.size(); ++k) {
    const Group& group = kernels.calls[kernels.first_call[k]].group;
    for_group(graph, group, [&] {
      KernelKey& key = kernels.keys[k];
      const auto fits = std::ranges::find_if(updatable[k], [&](std::size_t input) { return has_shape_of(key, input); });
      if (fits != updatable[k].end()) key.updated = *fits;
      kernels.programs.push_back(group_program(key, operators_of(graph, group) + "_" + std::to_string(k)));
    });
  }
  for (GroupCall& call : kernels.calls) {
    const std::optional<std::size_t> updated = kernels.keys[call.kernel].updated;
    if (!updated) continue;
    replace_in_memory(storages, call.arguments[*updated], call.arguments.back());
    call.arguments.erase(call.arguments.begin() + static_cast<std::ptrdiff_t>(*updated));
  }
  return placed;
}

std::map<std::string, std::int64_t> hints_for(const NetworkKernels& kernels, std::size_t kernel) {
  const std::vector<std::int64_t>& values = kernels.keys[kernel].hints;
  std::map<std::string, std::int64_t> hints;
  for (std::size_t s = 0; s < values.size(); ++s) hints[symbol_name(s)] = values[s];
  return hints;
}

LoweredKernel lower_kernel(const NetworkKernels& kernels, std::size_t kernel, const Target& target,
                           const TunedKernel& tuned) {
  LoweredKernel lowered;
  const auto add = [&](const lang::Program& program, const PointValues* point,
                       const std::map<std::string, std::int64_t>& sizes) {
    lowered.programs.push_back(program);
    lowered.schedules.push_back(
        point == nullptr
            ? autoschedule::default_schedule(program, target, sizes)
            : autoschedule::schedules_at(std::span(&program, 1),
                                         {.text = {}, .name = "the record of " + program.name, .in_order = *point},
                                         target, {}, sizes)
                  .front());
  };
  add(kernels.programs[kernel], tuned.point ? &*tuned.point : nullptr, hints_for(kernels, kernel));
  if (tuned.sized) add(tuned.sized->program, &tuned.sized->point, {});
  lowered.functions = lower::lower_module(lowered.programs, lowered.schedules);
  return lowered;
}

std::string tuned_line(const std::string& note) { return std::string(kTunedLine) + printable(note) + "\n"; }

std::vector<std::string> tuned_notes(std::string_view schedule) {
  std::vector<std::string> notes;
  for (const std::string_view line : lines_of(schedule))
    if (line.starts_with(kTunedLine)) notes.emplace_back(line.substr(kTunedLine.size()));
  return notes;
}

LoweredKernels lower_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                             const std::vector<TunedKernel>& tuned) {
  std::vector<LoweredKernel> results(kernels.programs.size());
  parallel_for(results.size(), [&](std::size_t k) {
    const Target& device = kernels.device_of(k) == kHostDevice ? *target.host : target;
    for_group(graph, kernels.calls[kernels.first_call[k]].group,
              [&] { results[k] = lower_kernel(kernels, k, device, tuned.empty() ? TunedKernel() : tuned[k]); });
  });
  LoweredKernels lowered;
  std::vector<lang::Program> programs;
  std::vector<schedule::Schedule> schedules;
  for (std::size_t k = 0; k < results.size(); ++k) {
    std::ranges::move(results[k].programs, std::back_inserter(programs));
    std::ranges::move(results[k].schedules, std::back_inserter(schedules));
    std::ranges::move(results[k].functions, std::back_inserter(lowered.functions.at(kernels.device_of(k))));
  }
  lowered.schedule = autoschedule::to_text(programs, schedules);
  for (const TunedKernel& kernel : tuned)
    for (const std::string& note : kernel.notes) lowered.schedule += tuned_line(note);
  return lowered;
}

}  // namespace ferry::graph
