#include "host/schedule/stages/scheduled_stage.h"

#include "crosscompile/analysis/loads.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ferry::schedule {

using analysis::loads_of;

namespace {

template <class List>
auto* find_in(List& stages, const std::string& name) {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const auto& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

bool is_in_or_inside(const StageLoops& loops, std::size_t inner, std::size_t outer) {
  const std::vector<std::size_t>& order = loops.order();
  return std::find(order.begin(), order.end(), outer) <= std::find(order.begin(), order.end(), inner);
}

}  // namespace

Stages stages_of(const lang::Program& program) {
  std::unordered_set<const ir::Buffer*> results;
  for (const lang::Parameter& parameter : program.parameters)
    if (parameter.kind == ParameterKind::tensor) results.insert(parameter.tensor.buffer().get());
  Stages stages;
  std::unordered_map<const lang::Stage*, ScheduledStage*> known;
  for (const lang::Tensor& tensor : lang::computed_tensors(program)) {
    const lang::Stage* definition = tensor.stage();
    ScheduledStage*& stage = known[definition];
    if (stage == nullptr) {
      ScheduledStage made;
      made.context = program.context;
      made.name = free_name(stages, definition->name);
      made.axes = definition->axes;
      made.values = definition->values;
      made.assertion = definition->assertion;
      made.external = definition->external;
      made.sequence = definition->sequence;
      if (made.sequence != nullptr) made.place = made.sequence->place;
      made.outputs.resize(made.values.size());
      made.loops = plain_loops(made);
      stage = &stages.emplace_back(std::move(made));
    }
    stage->outputs[tensor.buffer()->component] = tensor.buffer();
    stage->is_result |= results.contains(tensor.buffer().get());
  }
  for (const ScheduledStage& stage : stages) {
    if (stage.external == nullptr) continue;
    for (const lang::ExternArgument& argument : stage.external->arguments)
      for (ScheduledStage& producer : stages)
        if (std::find(producer.outputs.begin(), producer.outputs.end(), argument.tensor.buffer()) !=
                producer.outputs.end() &&
            argument.tensor.buffer() != nullptr)
          producer.extern_reader = stage.external->name;
  }
  for (const ScheduledStage& stage : stages) {
    if (!stage.is_scatter()) continue;
    for (ScheduledStage& before : stages)
      for (const ir::BufferRef& output : before.outputs)
        if (output != nullptr && output == stage.sequence->before.buffer()) before.updated_by = stage.name;
  }
  // Outputs that nothing uses are not computed.
  for (ScheduledStage& stage : stages) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < stage.outputs.size(); ++i) {
      if (stage.outputs[i] == nullptr) continue;
      stage.outputs[kept] = stage.outputs[i];
      stage.values[kept++] = stage.values[i];
    }
    stage.outputs.resize(kept);
    stage.values.resize(kept);
  }
  return stages;
}

StageLoops plain_loops(const ScheduledStage& stage) {
  const ir::Reduce* reduction = stage.reduction();
  StageLoops loops(stage.axes, reduction == nullptr ? std::vector<ir::Axis>{} : reduction->axes);
  if (stage.sequence != nullptr) loops.set_sequence(stage.sequence->axis, stage.sequence->crossed);
  return loops;
}

std::vector<Expr> ScheduledStage::expressions() const {
  std::vector<Expr> all = values;
  all.insert(all.end(), place.begin(), place.end());
  return all;
}

ScheduledStage* find_stage(Stages& stages, const std::string& name) { return find_in(stages, name); }
const ScheduledStage* find_stage(const Stages& stages, const std::string& name) { return find_in(stages, name); }

const ScheduledStage* producer_of(const Stages& stages, const ir::Buffer* tensor) {
  for (const ScheduledStage& stage : stages)
    for (const ir::BufferRef& output : stage.outputs)
      if (output.get() == tensor) return &stage;
  return nullptr;
}

bool reads(const ScheduledStage& stage, const std::vector<ir::BufferRef>& tensors) {
  for (const Expr& value : stage.expressions())
    for (const ir::Load* load : loads_of(value))
      if (std::find(tensors.begin(), tensors.end(), load->buffer) != tensors.end()) return true;
  return false;
}

std::vector<const ScheduledStage*> readers_of(const Stages& stages, const ScheduledStage& stage) {
  std::vector<const ScheduledStage*> readers;
  auto add = [&](const ScheduledStage* reader) {
    if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
  };
  for (const ScheduledStage& other : stages) {
    if (&other == &stage || !reads(other, stage.outputs)) continue;
    if (other.compute_kind != ComputeKind::inlined) {
      add(&other);
      continue;
    }
    for (const ScheduledStage* reader : readers_of(stages, other)) add(reader);
  }
  return readers;
}

bool is_within(const Stages& stages, const ScheduledStage& stage, const Attachment& loop) {
  if (loop.stage.empty() || stage.name == loop.stage) return true;
  if (stage.compute_kind != ComputeKind::attached) return false;
  if (stage.compute_at.stage == loop.stage)
    return is_in_or_inside(find_stage(stages, loop.stage)->loops, stage.compute_at.loop, loop.loop);
  return is_within(stages, *find_stage(stages, stage.compute_at.stage), loop);
}

std::string free_name(const Stages& stages, const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t number = 2; find_stage(stages, name) != nullptr; ++number)
    name = wanted + "." + std::to_string(number);
  return name;
}

}  // namespace ferry::schedule
