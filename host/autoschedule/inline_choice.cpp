#include "host/autoschedule/inline_choice.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <unordered_map>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

// One load of a stage's tensor.
struct Use {
  const ScheduledStage* consumer;
  const Load* load;
  bool repeated;  // inside a reduction's source or a border, so read again for other results
};

using Uses = std::unordered_map<const Buffer*, std::vector<Use>>;

void collect(const ScheduledStage* consumer, const Expr& expr, bool repeated, Uses& uses) {
  for (const Load* load : loads_of(expr)) uses[load->buffer.get()].push_back({consumer, load, repeated});
}

Uses uses_in(const Stages& stages, const std::vector<std::string>& borders) {
  Uses uses;
  for (const ScheduledStage& stage : stages) {
    const bool is_border = std::ranges::find(borders, stage.name) != borders.end();
    for (const Expr& index : stage.place) collect(&stage, index, true, uses);
    for (const Expr& value : stage.values) {
      const auto* reduce = value.as<Reduce>();
      if (reduce == nullptr) {
        collect(&stage, value, is_border, uses);
        continue;
      }
      for (const Expr& source : reduce->sources) collect(&stage, source, true, uses);
      if (reduce->condition.defined()) collect(&stage, reduce->condition, true, uses);
      for (const Expr& init : reduce->init) collect(&stage, init, false, uses);
    }
  }
  return uses;
}

// Whether the value is an element of another tensor, perhaps converted, or a constant: as cheap to recompute as to
// load.
bool only_moves(const Expr& value) {
  if (const auto* cast = value.as<Cast>()) return only_moves(cast->value);
  if (const auto* load = value.as<Load>())
    return std::all_of(load->indices.begin(), load->indices.end(), [](const Expr& i) { return loads_of(i).empty(); });
  return value.kind() == ExprKind::IntImm || value.kind() == ExprKind::FloatImm || value.kind() == ExprKind::Var;
}

// Whether every axis of the consumer occurs in the indices, so that no element is computed twice.
bool read_once(const Use& use) {
  if (use.repeated) return false;
  return std::all_of(use.consumer->axes.begin(), use.consumer->axes.end(), [&](const Axis& axis) {
    return is_constant(axis.extent, 1) || std::any_of(use.load->indices.begin(), use.load->indices.end(),
                                                      [&](const Expr& index) { return uses_var(index, axis.var); });
  });
}

// A chain of inlined stages is one expression, and expressions nested deeper than ir::kMaxDepth are rejected. The
// remaining depth is reserved for the loops around it and for what passes add.
constexpr std::uint32_t kMaxInlinedDepth = kMaxDepth / 4;

// Returns the depth of a stage's expressions with the inlined stages that they read substituted.
std::uint32_t depth_of(const ScheduledStage& stage, const std::unordered_map<const Buffer*, std::uint32_t>& inlined) {
  std::uint32_t depth = 0, below = 0;
  for (const Expr& value : stage.values) {
    depth = std::max(depth, value.get()->depth);
    for (const Load* load : loads_of(value)) {
      if (const auto found = inlined.find(load->buffer.get()); found != inlined.end())
        below = std::max(below, found->second);
    }
  }
  return depth + below;
}

}  // namespace

std::vector<std::string> stages_to_inline(const Stages& stages, const std::vector<std::string>& borders) {
  const Uses uses = uses_in(stages, borders);
  std::vector<std::string> result;
  std::unordered_map<const Buffer*, std::uint32_t> inlined;
  for (const ScheduledStage& stage : stages) {
    if (stage.is_final() || stage.values.size() != 1 || stage.reduction() != nullptr || stage.sequence != nullptr)
      continue;
    const auto found = uses.find(stage.outputs[0].get());
    if (found == uses.end()) continue;
    if (!only_moves(stage.values[0]) && (found->second.size() != 1 || !read_once(found->second[0]))) continue;
    const std::uint32_t depth = depth_of(stage, inlined);
    if (depth > kMaxInlinedDepth) continue;
    inlined.emplace(stage.outputs[0].get(), depth);
    result.push_back(stage.name);
  }
  return result;
}

}  // namespace ferry::autoschedule
