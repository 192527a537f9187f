#include "ferry/schedule/schedule.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"
#include "host/lang/names.h"
#include "host/schedule/primitives/primitives.h"
#include "host/schedule/stages/directive_args.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

std::vector<std::string> names_of(const Stages& stages) {
  std::vector<std::string> names;
  for (const ScheduledStage& stage : stages) names.push_back(stage.name);
  return names;
}

const Primitive& find_primitive(const Directive& directive, const DirectiveArgs& args) {
  for (const Primitive& primitive : primitives())
    if (directive.primitive == primitive.name) return primitive;
  std::vector<std::string> names;
  for (const Primitive& primitive : primitives()) names.emplace_back(primitive.name);
  if (directive.primitive == "vthread") args.fail("a primitive", "'vthread'; it is 'bind AXIS vthread'");
  args.fail("a primitive", "'" + directive.primitive + "'" + lang::suggestion(directive.primitive, names));
}

bool reads_parameter(const Stages& stages, const std::string& name) {
  for (const ScheduledStage& reader : stages)
    for (const Expr& value : reader.expressions())
      for (const ir::Load* load : analysis::loads_of(value))
        if (load->buffer->name == name && producer_of(stages, load->buffer.get()) == nullptr) return true;
  return false;
}

// The stage that copies a parameter, as a cache_read of it has made it.
std::string copy_of_parameter(const Directive& cache_read, const Stages& stages) {
  const auto arrow = std::find(cache_read.args.begin(), cache_read.args.end(), "->");
  if (arrow != cache_read.args.end() && arrow + 1 != cache_read.args.end()) return *(arrow + 1);
  for (const ScheduledStage& stage : stages)
    if (stage.name.starts_with(cache_read.stage + ".")) return stage.name;
  return cache_read.stage;
}

// The stage that a directive without a stage refers to: that of the directive before, or what it made of a parameter,
// which is no stage itself.
std::string current_stage(const std::vector<Directive>& directives, const Stages& stages) {
  for (auto directive = directives.rbegin(); directive != directives.rend(); ++directive) {
    if (directive->stage.empty()) continue;
    return find_stage(stages, directive->stage) == nullptr ? copy_of_parameter(*directive, stages) : directive->stage;
  }
  return stages.empty() ? "" : stages.back().name;
}

}  // namespace

Schedule::Schedule(const lang::Program& program) : Schedule(stages_of(program)) {}
Schedule::Schedule(Stages stages) : stages_(std::move(stages)) {}
Schedule::Schedule(const Schedule&) = default;
Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(const Schedule&) = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;
Schedule::~Schedule() = default;

void Schedule::apply(Directive directive) {
  const DirectiveArgs unread(directive, stages_);
  const Primitive& primitive = find_primitive(directive, unread);
  ScheduledStage* stage = nullptr;
  if (primitive.subject == Subject::program) {
    if (!directive.stage.empty()) unread.fail("expected no stage, got '" + directive.stage + "'");
  } else {
    if (directive.stage.empty()) directive.stage = current_stage(directives_, stages_);
    stage = find_stage(stages_, directive.stage);
    if (stage == nullptr && primitive.subject != Subject::tensor)
      unread.fail("a stage of the program (" + quoted(names_of(stages_)) + ")",
                  "'" + directive.stage + "'" + lang::suggestion(directive.stage, names_of(stages_)));
    if (stage != nullptr && stage->external != nullptr && primitive.subject == Subject::stage)
      unread.fail("a stage with loops",
                  "'" + stage->name + "', which the C function '" + stage->external->name + "' computes");
  }
  // A primitive of several steps may fail after the first. One about a stage changes that stage alone, and adds another
  // only as its last step, which saves copying all stages for each directive; any other may change all of them.
  const bool changes_one = primitive.subject == Subject::stage;
  Stages before;
  if (changes_one)
    before.push_back(*stage);
  else
    before = stages_;
  directives_.push_back(std::move(directive));
  try {
    DirectiveArgs args(directives_.back(), stages_, primitive.usage);
    primitive.apply(stages_, stage, args);
  } catch (...) {
    directives_.pop_back();
    if (changes_one)
      *stage = std::move(before.front());
    else
      stages_.swap(before);
    throw;
  }
}

Schedule Schedule::replay(const lang::Program& program, std::string_view text, const KnobValues& knobs) {
  Schedule schedule(program);
  for (Directive& directive : bind_knobs(parse_directives(text), knobs)) schedule.apply(std::move(directive));
  return schedule;
}

std::string Schedule::to_text() const {
  std::string text;
  for (const Directive& directive : directives_) text += schedule::to_text(directive) + "\n";
  return text;
}

StageHandle Schedule::operator[](const std::string& stage) {
  // A parameter has no stage, but cache_read accepts it.
  if (find_stage(stages_, stage) == nullptr && !reads_parameter(stages_, stage))
    throw CompileError("expected a stage of the program (" + quoted(names_of(stages_)) + "), got '" + stage + "'" +
                       lang::suggestion(stage, names_of(stages_)));
  return {*this, stage};
}

StageHandle Schedule::operator[](const lang::Tensor& tensor) {
  const ScheduledStage* stage = producer_of(stages_, tensor.buffer().get());
  return {*this, stage == nullptr ? tensor.name() : stage->name};
}

Schedule& Schedule::inline_injective() {
  apply({"", "inline_injective", {}});
  return *this;
}

StageHandle& StageHandle::apply(const std::string& primitive, std::vector<std::string> args) {
  schedule_.apply({stage_, primitive, std::move(args)});
  return *this;
}

std::pair<std::string, std::string> StageHandle::split(std::string axis, std::int64_t factor) {
  apply("split", {axis, std::to_string(factor)});
  return {axis + ".outer", axis + ".inner"};
}

std::pair<std::string, std::string> StageHandle::split_parts(std::string axis, std::int64_t parts) {
  apply("split", {axis, "nparts", std::to_string(parts)});
  return {axis + ".outer", axis + ".inner"};
}

StageHandle::Axes StageHandle::tile(std::string y, std::string x, std::int64_t y_factor, std::int64_t x_factor) {
  apply("tile", {y, x, std::to_string(y_factor), std::to_string(x_factor)});
  return {y + ".outer", x + ".outer", y + ".inner", x + ".inner"};
}

std::string StageHandle::fuse(std::string outer, std::string inner) {
  apply("fuse", {outer, inner});
  return outer + "." + inner + ".fused";
}

StageHandle& StageHandle::reorder(const Axes& axes) { return apply("reorder", axes); }

StageHandle& StageHandle::storage_align(const std::string& axis, std::int64_t factor, std::int64_t offset) {
  return apply("storage_align", {axis, std::to_string(factor), std::to_string(offset)});
}

StageHandle& StageHandle::pragma(const std::string& axis, const std::string& key, std::int64_t value) {
  return apply("pragma", {axis, key, std::to_string(value)});
}

StageHandle StageHandle::cache_read(const std::string& scope, const std::vector<std::string>& readers) {
  const std::string name = free_name(schedule_.stages_, stage_ + "." + scope);
  std::vector<std::string> args = {scope};
  args.insert(args.end(), readers.begin(), readers.end());
  args.insert(args.end(), {"->", name});
  apply("cache_read", std::move(args));
  return {schedule_, name};
}

StageHandle StageHandle::cache_write(const std::string& scope) {
  const std::string name = free_name(schedule_.stages_, stage_ + "." + scope);
  apply("cache_write", {scope, "->", name});
  return {schedule_, name};
}

StageHandle StageHandle::rfactor(const std::string& axis) {
  const std::string name = free_name(schedule_.stages_, stage_ + ".rf");
  apply("rfactor", {axis, "->", name});
  return {schedule_, name};
}

StageHandle& StageHandle::transform_layout(const std::string& layout) {
  return apply("transform_layout", parse_directives("transform_layout " + layout).directives.at(0).args);
}

}  // namespace ferry::schedule
