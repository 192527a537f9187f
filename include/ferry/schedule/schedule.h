// A schedule of a program: a list of directives, each checked and applied as it is added.
//
//     Schedule s(program);
//     auto [yo, yi] = s["C"].split("y", 32);
//     s["C"].parallel(yo).vectorize("x");
//     std::string text = s.to_text();                 // one directive a line
//     Schedule again = Schedule::replay(program, text);
//
// docs/schedules.md shows what each primitive does.
#pragma once

#include "ferry/schedule/directive.h"

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferry::lang {
struct Program;
class Tensor;
}  // namespace ferry::lang

namespace ferry::schedule {

struct ScheduledStage;  // internal
using Stages = std::list<ScheduledStage>;

class StageHandle;

class Schedule {
 public:
  // Initially every stage has serial loops of its own, in the order of its axes.
  explicit Schedule(const lang::Program& program);
  explicit Schedule(Stages stages);
  Schedule(const Schedule&);
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(const Schedule&);
  Schedule& operator=(Schedule&&) noexcept;
  ~Schedule();

  // Throws CompileError with the line number for an illegal directive; bind_knobs() describes the errors for knobs.
  static Schedule replay(const lang::Program& program, std::string_view text, const KnobValues& knobs = {});

  // Applies the directive and records it. Throws CompileError when it is not legal; nothing has changed then.
  void apply(Directive directive);

  // Throws CompileError for an unknown stage name.
  StageHandle operator[](const std::string& stage);
  StageHandle operator[](const lang::Tensor& tensor);
  // Inlines all stages that are neither reductions nor results.
  Schedule& inline_injective();

  // As directives changed them so far, producers first.
  const Stages& stages() const { return stages_; }
  const std::vector<Directive>& directives() const { return directives_; }
  // Returns one directive a line, each with its stage.
  std::string to_text() const;

 private:
  friend class StageHandle;
  Stages stages_;
  std::vector<Directive> directives_;
};

// Adds directives for one stage. Axes are given by name; directives that make new ones return their names (and take
// names by value, since they may refer to loops that are replaced). Valid as long as the schedule.
class StageHandle {
 public:
  using Axes = std::vector<std::string>;

  StageHandle(Schedule& schedule, std::string stage) : schedule_(schedule), stage_(std::move(stage)) {}
  const std::string& name() const { return stage_; }

  std::pair<std::string, std::string> split(std::string axis, std::int64_t factor);
  std::pair<std::string, std::string> split_parts(std::string axis, std::int64_t parts);
  // Returns {y.outer, x.outer, y.inner, x.inner}.
  Axes tile(std::string y, std::string x, std::int64_t y_factor, std::int64_t x_factor);
  std::string fuse(std::string outer, std::string inner);
  StageHandle& reorder(const Axes& axes);
  StageHandle& parallel(const std::string& axis) { return apply("parallel", {axis}); }
  StageHandle& vectorize(const std::string& axis) { return apply("vectorize", {axis}); }
  // Lanes hold partial results, so floats are added in another order.
  StageHandle& vectorize_reduction(const std::string& axis) { return apply("vectorize", {axis, "reduce"}); }
  // Replaces the loops from `axis` inward by an intrinsic: "dot", an instruction (docs/schedules.md lists them), or a C
  // function of the program's Context.
  StageHandle& tensorize(const std::string& axis, const std::string& intrinsic) {
    return apply("tensorize", {axis, intrinsic});
  }
  // Binds iterations to the blocks or threads of a GPU, "blockIdx.x" to "threadIdx.z", or to virtual threads,
  // "vthread".
  StageHandle& bind(const std::string& axis, const std::string& place) { return apply("bind", {axis, place}); }
  StageHandle& unroll(const std::string& axis) { return apply("unroll", {axis}); }
  StageHandle& compute_at(const std::string& stage, const std::string& axis) {
    return apply("compute_at", {stage, axis});
  }
  StageHandle& store_at(const std::string& stage, const std::string& axis) { return apply("store_at", {stage, axis}); }
  StageHandle& compute_inline() { return apply("compute_inline", {}); }
  StageHandle& compute_root() { return apply("compute_root", {}); }
  StageHandle& set_scope(const std::string& scope) { return apply("set_scope", {scope}); }
  // Computes the stage one iteration ahead, or copies - 1 iterations.
  StageHandle& double_buffer(std::int64_t copies = 2) { return apply("double_buffer", {std::to_string(copies)}); }
  StageHandle& nontemporal_stores() { return apply("nontemporal_stores", {}); }
  StageHandle& storage_align(const std::string& axis, std::int64_t factor, std::int64_t offset = 0);
  // Avoids bank conflicts when threads read down a column of shared memory.
  StageHandle& swizzle() { return apply("swizzle", {}); }
  StageHandle& pragma(const std::string& axis, const std::string& key, std::int64_t value);
  // Returns a new stage: a copy of this one (or of a parameter, by name) that the readers read instead.
  StageHandle cache_read(const std::string& scope, const std::vector<std::string>& readers = {});
  // Returns a new stage that computes what this one did; this one now copies it.
  StageHandle cache_write(const std::string& scope);
  // Returns a new stage of partial results, one for each iteration of the reduction's axis.
  StageHandle rfactor(const std::string& axis);
  // "(n, c) -> (n, c / 16, c % 16)"
  StageHandle& transform_layout(const std::string& layout);
  // Applies any primitive, given its arguments.
  StageHandle& apply(const std::string& primitive, std::vector<std::string> args);

 private:
  Schedule& schedule_;
  std::string stage_;
};

}  // namespace ferry::schedule
