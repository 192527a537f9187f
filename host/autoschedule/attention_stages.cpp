#include "host/autoschedule/attention_stages.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/row_fusion.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// Returns the two factors of a sum over one axis: first the one that the last axis of results does not index.
std::optional<std::pair<const Load*, const Load*>> factors_of(const ScheduledStage& stage) {
  const Reduce* sum = stage.reduction();
  if (sum == nullptr || sum->sources.size() != 1 || sum->reducer->op != ReduceOp::sum || sum->axes.size() != 1 ||
      sum->condition.defined() || !sum->init.empty() || stage.axes.size() < 2 || stage.outputs.size() != 1)
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(sum->sources[0]);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) return std::nullopt;
  const auto uses = [](const Load& load, const Axis& axis) {
    return std::ranges::any_of(load.indices, [&](const Expr& index) { return uses_var(index, axis.var); });
  };
  const Axis &column = stage.axes.back(), &row = stage.axes[stage.axes.size() - 2];
  for (const std::size_t side : {0U, 1U}) {
    const Load &rows = *loads[side], &columns = *loads[1 - side];
    if (uses(rows, row) && !uses(rows, column) && uses(columns, column) && !uses(columns, row))
      return std::pair(&rows, &columns);
  }
  return std::nullopt;
}

// Whether the load's indices are the leading axes of the reader, and last the axis of the reader's sum.
bool reads_rows(const ScheduledStage& reader, const Load& load) {
  const std::size_t rows = reader.axes.size() - 1;
  return load.indices.size() == rows + 1 && shared_axes(reader, load) == rows &&
         load.indices.back().same_as(reader.reduction()->axes[0].var);
}

// Returns the stages that these read, directly or through others.
std::vector<std::string> read_by(const Stages& stages, std::vector<std::string> readers) {
  std::vector<std::string> found;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const bool is_read = std::ranges::any_of(stages, [&](const ScheduledStage& reader) {
      return is_one_of(readers, reader.name) && schedule::reads(reader, stage->outputs);
    });
    if (!is_read || is_one_of(readers, stage->name)) continue;
    readers.push_back(stage->name);
    found.push_back(stage->name);
  }
  return found;
}

}  // namespace

std::optional<AttentionStages> find_attention(const Stages& stages, const ScheduledStage& product) {
  const auto factors = factors_of(product);
  if (!factors || product.compute_kind != ComputeKind::root || !reads_rows(product, *factors->first))
    return std::nullopt;
  const ScheduledStage* weights = schedule::producer_of(stages, factors->first->buffer.get());
  if (weights == nullptr || weights->compute_kind != ComputeKind::root || weights->reduction() != nullptr ||
      schedule::producer_of(stages, factors->second->buffer.get()) == weights)
    return std::nullopt;
  AttentionStages found;
  found.product = product.name;
  found.weights = weights->name;
  found.rows = product.axes.size() - 2;
  found.epilogues = epilogue_stages(stages, product, "");
  // Stages over the rows, consumers first. The first product among them computes the scores.
  std::vector<std::string> group = found.epilogues;
  group.push_back(product.name);
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    if (is_one_of(group, stage->name) || stage->sequence != nullptr || stage->is_final() ||
        agreed_axes(stages, *stage, group) <= found.rows)
      continue;
    group.push_back(stage->name);
    if (found.scores.empty() && stage->axes.size() == product.axes.size() && factors_of(*stage))
      found.scores = stage->name;
  }
  if (found.scores.empty() || !is_one_of(group, found.weights)) return std::nullopt;
  std::vector<std::string> first = epilogue_stages(stages, *find_stage(stages, found.scores), found.weights);
  found.score_epilogues = first;
  first.push_back(found.scores);
  const std::vector<std::string> operands = read_by(stages, first), above = read_by(stages, {found.weights});
  if (!is_one_of(above, found.scores)) return std::nullopt;
  for (const std::string& name : group) {
    const ScheduledStage& stage = *find_stage(stages, name);
    if (name == product.name || name == found.weights || is_one_of(found.epilogues, name) || is_one_of(first, name) ||
        is_one_of(operands, name) || stage.compute_kind == ComputeKind::inlined)
      continue;
    if (stage.compute_kind != ComputeKind::root) return std::nullopt;
    (is_one_of(above, name) ? found.before : found.beside).push_back(name);
  }
  return found;
}

}  // namespace ferry::autoschedule
