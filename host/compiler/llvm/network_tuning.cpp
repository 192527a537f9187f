#include "host/compiler/llvm/network_tuning.h"

#include "base/hash_stream.h"
#include "host/graph/graph_hash.h"

#include <optional>
#include <span>
#include <utility>

namespace ferry {

namespace {

// Changes when layouts of the same networks mean something else.
constexpr const char* kLayoutFormat = "ferry layouts 1";

graph::TunedPoint point_of(TunedSchedule found) { return {std::move(found.values), std::move(found.note)}; }

std::string digits_of(const std::vector<bool>& is_blocked) {
  std::string digits;
  for (const bool one : is_blocked) digits += one ? '1' : '0';
  return digits;
}

// The graph tells nothing of algorithms that are chosen after the layouts.
LayoutQuestion question_of(const graph::Graph& graph, std::int64_t lanes, const SizesByName& sizes,
                           const graph::Algorithms& allowed, const std::vector<bool>& by_default) {
  std::string text = kLayoutFormat + std::string(" ") + std::to_string(lanes);
  if (allowed.winograd)
    text += " " + std::to_string(allowed.max_error.rms) + "," + std::to_string(allowed.max_error.largest);
  if (allowed.float32) text += " float32";
  for (const auto& [name, size] : sizes) text += " " + name + "=" + std::to_string(size);
  HashStream hash;
  hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  hash.add(graph::graph_hash(graph));
  return {hash.finish(), digits_of(by_default)};
}

}  // namespace

OtherAlgorithm other_of(const graph::AlgorithmProgram& other) {
  return {other.algorithm, other.kernel, other.program, other.ratio};
}

graph::FindTuned find_schedules(const TunedSchedules& tuned, const NetworkIdentity& network) {
  return [&tuned, network](const lang::Program& program, const SizesByName& sizes,
                           const Target& target) -> std::optional<graph::TunedPoint> {
    std::optional<TunedSchedule> found = tuned.find(program, sizes, target, nullptr, network);
    return found ? std::optional(point_of(*std::move(found))) : std::nullopt;
  };
}

graph::FindAlgorithm find_algorithms(const TunedSchedules& tuned, const NetworkIdentity& network) {
  return [&tuned, network](const lang::Program& program, const Target& target,
                           std::span<const graph::AlgorithmProgram> others) -> std::optional<graph::TunedAlgorithm> {
    std::vector<OtherAlgorithm> all;
    for (const graph::AlgorithmProgram& other : others) all.push_back(other_of(other));
    std::optional<TunedAlgorithm> found = tuned.find_algorithm(program, all, target, network);
    if (!found) return std::nullopt;
    return graph::TunedAlgorithm{std::move(found->name), point_of(std::move(found->schedule))};
  };
}

graph::KnownLayouts find_layouts(const TunedSchedules& tuned, const NetworkIdentity& network, const Target& target,
                                 const SizesByName& sizes, const graph::Algorithms& allowed,
                                 std::vector<std::string>& notes) {
  return [&tuned, network, target, sizes, allowed, &notes](
             const graph::Graph& graph, std::int64_t lanes, const graph::LayoutProblem&,
             const std::vector<bool>& by_default) -> std::optional<std::vector<bool>> {
    const std::optional<TunedLayouts> found =
        tuned.find_layouts(question_of(graph, lanes, sizes, allowed, by_default), target, network);
    if (!found || found->layouts.size() != by_default.size()) return std::nullopt;
    if (!found->note.empty()) notes.push_back(network.name + ": " + found->note);
    std::vector<bool> is_blocked;
    for (const char digit : found->layouts) is_blocked.push_back(digit == '1');
    return is_blocked;
  };
}

graph::KnownLayouts read_layouts(NetworkLayouts& into, const SizesByName& sizes, const graph::Algorithms& allowed) {
  return [&into, sizes, allowed](const graph::Graph& graph, std::int64_t lanes, const graph::LayoutProblem& problem,
                                 const std::vector<bool>& by_default) -> std::optional<std::vector<bool>> {
    into.question = question_of(graph, lanes, sizes, allowed, by_default);
    for (const graph::GroupLayouts& group : problem.groups)
      into.groups.push_back({group.name, group.may_be_blocked, group.costs.plain, group.costs.blocked});
    for (const graph::LayoutConversion& conversion : problem.conversions)
      into.conversions.push_back({conversion.one, conversion.other, conversion.cost});
    return std::nullopt;
  };
}

std::string least_cost_layouts(const NetworkLayouts& layouts) {
  graph::LayoutProblem problem;
  for (const NetworkLayouts::Group& group : layouts.groups)
    problem.groups.push_back({group.node, group.may_be_blocked, {group.plain, group.blocked}});
  for (const NetworkLayouts::Conversion& conversion : layouts.conversions)
    problem.conversions.push_back({conversion.one, conversion.other, conversion.cost});
  return digits_of(graph::least_cost_layouts(problem));
}

}  // namespace ferry
