#include "host/schedule/inline_choice.h"

#include "crosscompile/ir/substitute.h"
#include "host/schedule/access.h"

#include <algorithm>
#include <unordered_map>

namespace ferry::schedule {

using namespace ir;

namespace {

// One place where a stage's tensor is read.
struct Use {
  const lang::Stage* consumer;
  const Load* load;
  bool repeated;  // inside a reduction's source: read again for other results
};

using Uses = std::unordered_map<const Buffer*, std::vector<Use>>;

void collect(const lang::Stage* consumer, const Expr& expr, bool repeated, Uses& uses) {
  for (const Load* load : loads_of(expr)) uses[load->buffer.get()].push_back({consumer, load, repeated});
}

Uses uses_in(const lang::Program& program) {
  Uses uses;
  std::unordered_set<const lang::Stage*> seen;
  for (const lang::Tensor& tensor : lang::computed_tensors(program)) {
    const lang::Stage* stage = tensor.stage();
    if (!seen.insert(stage).second) continue;
    for (const Expr& value : stage->values) {
      const auto* reduce = value.as<Reduce>();
      if (!reduce) {
        collect(stage, value, false, uses);
        continue;
      }
      for (const Expr& source : reduce->sources) collect(stage, source, true, uses);
      if (reduce->condition) collect(stage, reduce->condition, true, uses);
      for (const Expr& init : reduce->init) collect(stage, init, false, uses);
    }
  }
  return uses;
}

// A copy of another tensor's element, perhaps converted, or a constant: as cheap to repeat as to read back.
bool only_moves(const Expr& value) {
  if (const auto* cast = value.as<Cast>()) return only_moves(cast->value);
  if (const auto* load = value.as<Load>())
    return std::all_of(load->indices.begin(), load->indices.end(), [](const Expr& i) { return loads_of(i).empty(); });
  return value.kind() == NodeKind::IntImm || value.kind() == NodeKind::FloatImm || value.kind() == NodeKind::Var;
}

// Every axis of the consumer takes part in the indices, so no element is computed twice.
bool read_once(const Use& use) {
  if (use.repeated) return false;
  return std::all_of(use.consumer->axes.begin(), use.consumer->axes.end(), [&](const Axis& axis) {
    return is_constant(axis.extent, 1) || std::any_of(use.load->indices.begin(), use.load->indices.end(),
                                                      [&](const Expr& index) { return uses_var(index, axis.var); });
  });
}

}  // namespace

std::unordered_set<const lang::Stage*> stages_to_inline(const lang::Program& program) {
  std::unordered_set<const Buffer*> outputs;
  for (const lang::Parameter& parameter : program.parameters)
    if (parameter.kind == ParameterKind::tensor) outputs.insert(parameter.tensor.buffer().get());
  const Uses uses = uses_in(program);
  std::unordered_set<const lang::Stage*> result;
  for (const lang::Tensor& tensor : lang::computed_tensors(program)) {
    const lang::Stage* stage = tensor.stage();
    if (stage->values.size() != 1 || stage->values[0].as<Reduce>() || outputs.contains(tensor.buffer().get())) continue;
    const auto found = uses.find(tensor.buffer().get());
    if (found == uses.end()) continue;
    if (only_moves(stage->values[0]) || (found->second.size() == 1 && read_once(found->second[0])))
      result.insert(stage);
  }
  return result;
}

}  // namespace ferry::schedule
