// Reads the words of one directive. Every refusal is a CompileError that names the directive, what was expected and
// what was there.
#pragma once

#include "host/schedule/stages/directive.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ferry::schedule {

class Words {
 public:
  // Both must outlive it. `usage` is told to who wrote too few words or too many.
  Words(const Directive& directive, const Stages& stages, std::string usage = {})
      : directive_(directive), stages_(stages), usage_(std::move(usage)) {}

  // What stands before the colon.
  const std::string& subject() const { return directive_.stage; }
  bool at_end() const { return next_ == directive_.words.size(); }
  bool is_next(const std::string& word) const { return !at_end() && directive_.words[next_] == word; }
  // Takes the next word if it is this one.
  bool accept(const std::string& word);
  void expect(const std::string& word);
  // Nothing may follow.
  void end() const;

  std::string name(const std::string& what);
  std::int64_t integer(const std::string& what);
  // At least 1.
  std::int64_t positive(const std::string& what);
  // The id of a loop in the order of `stage`.
  std::size_t axis(const ScheduledStage& stage);
  // As many as there are, at least one.
  std::vector<std::size_t> axes(const ScheduledStage& stage);
  const ScheduledStage& stage();
  // `count` new loop names for `stage` after "->", or as many empty ones.
  std::vector<std::string> new_axes(const ScheduledStage& stage, std::size_t count);
  // A new stage's name after "->", else `wanted`; never one that is taken.
  std::string new_stage(const std::string& wanted);
  ir::Scope scope();

  // Throws: "C: split y 0: expected a factor of at least 1, got 0".
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;

 private:
  std::string new_name(const std::string& what);

  const Directive& directive_;
  const Stages& stages_;
  std::string usage_;
  std::size_t next_ = 0;
};

// "'y', 'x'" of the loops in order.
std::string axis_names(const ScheduledStage& stage);
// 'a', 'b', 'c'
std::string quoted(const std::vector<std::string>& names);

}  // namespace ferry::schedule
