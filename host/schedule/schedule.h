// How a program is computed: a list of directives, each checked and carried out as it is added.
//
//     Schedule s(program);
//     auto [yo, yi] = s["C"].split("y", 32);
//     s["C"].parallel(yo).vectorize("x");
//     std::string text = s.to_text();                 // one directive a line
//     Schedule again = Schedule::replay(program, text);
//
// docs/schedules.md shows what each primitive does.
#pragma once

#include "host/lang/program.h"
#include "host/schedule/stages/directive.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferry::schedule {

class StageHandle;

class Schedule {
 public:
  // Every stage by serial loops of its own, in the order of its axes.
  explicit Schedule(const lang::Program& program) : Schedule(stages_of(program)) {}
  explicit Schedule(Stages stages) : stages_(std::move(stages)) {}

  // CompileError with the line for a directive that is not legal; for knobs as bind_knobs() says.
  static Schedule replay(const lang::Program& program, std::string_view text, const KnobValues& knobs = {});

  // Carries the directive out and keeps it. CompileError when it is not legal: then nothing has changed.
  void apply(Directive directive);

  // CompileError for a name that no stage has.
  StageHandle operator[](const std::string& stage);
  StageHandle operator[](const lang::Tensor& tensor);
  // All stages without a reduction that are not results.
  Schedule& inline_injective();

  const Stages& stages() const { return stages_; }
  const std::vector<Directive>& directives() const { return directives_; }
  // One directive a line, each with its stage.
  std::string to_text() const;

 private:
  friend class StageHandle;
  Stages stages_;
  std::vector<Directive> directives_;
};

// Adds directives for one stage. Axes are named; what makes new ones returns their names (and takes its own by value:
// they may be those of loops that it replaces). Valid as long as the schedule.
class StageHandle {
 public:
  using Axes = std::vector<std::string>;

  StageHandle(Schedule& schedule, std::string stage) : schedule_(schedule), stage_(std::move(stage)) {}
  const std::string& name() const { return stage_; }

  std::pair<std::string, std::string> split(std::string axis, std::int64_t factor);
  std::pair<std::string, std::string> split_parts(std::string axis, std::int64_t parts);
  // {y.outer, x.outer, y.inner, x.inner}
  Axes tile(std::string y, std::string x, std::int64_t y_factor, std::int64_t x_factor);
  std::string fuse(std::string outer, std::string inner);
  StageHandle& reorder(const Axes& axes);
  StageHandle& parallel(const std::string& axis) { return apply("parallel", {axis}); }
  StageHandle& vectorize(const std::string& axis) { return apply("vectorize", {axis}); }
  // Lanes hold partial results: floats are then added in another order.
  StageHandle& vectorize_reduction(const std::string& axis) { return apply("vectorize", {axis, "reduce"}); }
  // The loops from `axis` inward become an intrinsic: "dot", an instruction of passes/dot_instructions.h.
  StageHandle& tensorize(const std::string& axis, const std::string& intrinsic) {
    return apply("tensorize", {axis, intrinsic});
  }
  // Iterations go to the blocks or threads of a GPU: "blockIdx.x" to "threadIdx.z", or to virtual ones: "vthread".
  StageHandle& bind(const std::string& axis, const std::string& place) { return apply("bind", {axis, place}); }
  StageHandle& unroll(const std::string& axis) { return apply("unroll", {axis}); }
  StageHandle& compute_at(const std::string& stage, const std::string& axis) {
    return apply("compute_at", {stage, axis});
  }
  StageHandle& store_at(const std::string& stage, const std::string& axis) { return apply("store_at", {stage, axis}); }
  StageHandle& store_root() { return apply("store_at", {"root"}); }
  StageHandle& compute_inline() { return apply("compute_inline", {}); }
  StageHandle& compute_root() { return apply("compute_root", {}); }
  StageHandle& set_scope(const std::string& scope) { return apply("set_scope", {scope}); }
  // Computed an iteration ahead, or copies - 1 of them.
  StageHandle& double_buffer(std::int64_t copies = 2) { return apply("double_buffer", {std::to_string(copies)}); }
  StageHandle& stream_stores() { return apply("stream_stores", {}); }
  StageHandle& storage_align(const std::string& axis, std::int64_t factor, std::int64_t offset = 0);
  // Reading down a column of shared memory meets no bank twice.
  StageHandle& swizzle() { return apply("swizzle", {}); }
  StageHandle& pragma(const std::string& axis, const std::string& key, std::int64_t value);
  // The new stage: a copy of what this one computes (or of a parameter, by name) that the readers read instead.
  StageHandle cache_read(const std::string& scope, const std::vector<std::string>& readers = {});
  // The new stage: computes what this one did, which now copies it.
  StageHandle cache_write(const std::string& scope);
  // The new stage: partial results, one for each iteration of the reduction's axis.
  StageHandle rfactor(const std::string& axis);
  // "(n, c) -> (n, c / 16, c % 16)"
  StageHandle& transform_layout(const std::string& layout);
  // Any primitive, by its words.
  StageHandle& apply(const std::string& primitive, std::vector<std::string> words);

 private:
  Schedule& schedule_;
  std::string stage_;
};

}  // namespace ferry::schedule
