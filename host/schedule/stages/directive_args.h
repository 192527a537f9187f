// Reads the arguments of one directive. Every rejection is a CompileError that names the directive, what was expected
// and what was found.
#pragma once

#include "ferry/schedule/directive.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferry::schedule {

class DirectiveArgs {
 public:
  // All must outlive this object. `usage` is shown when there are too few or too many arguments.
  DirectiveArgs(const Directive& directive, const Stages& stages, std::string_view usage = {})
      : directive_(directive), stages_(stages), usage_(usage) {}

  // Returns the text before the colon.
  const std::string& subject() const { return directive_.stage; }
  bool at_end() const { return next_ == directive_.args.size(); }
  bool is_next(const std::string& word) const { return !at_end() && directive_.args[next_] == word; }
  // Consumes the next word if it is this one.
  bool accept(const std::string& word);
  void expect(const std::string& word);
  // Fails unless all arguments have been read.
  void end() const;

  std::string name(const std::string& what);
  std::int64_t integer(const std::string& what);
  // Reads an integer of at least 1.
  std::int64_t positive(const std::string& what);
  // Reads a loop's name and returns its id; the loop must be in the order of `stage`.
  std::size_t axis(const ScheduledStage& stage);
  // Reads all remaining loop names, at least one.
  std::vector<std::size_t> axes(const ScheduledStage& stage);
  const ScheduledStage& stage();
  // Reads `count` new loop names for `stage` after "->"; without "->" returns empty names.
  std::vector<std::string> new_axes(const ScheduledStage& stage, std::size_t count);
  // Reads a new stage's name after "->", otherwise derives one from `wanted`; the result is never the name of an
  // existing stage.
  std::string new_stage(const std::string& wanted);
  ir::Scope scope();

  // Throws: "C: split y 0: expected a factor of at least 1, got 0".
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;

 private:
  std::string new_name(const std::string& what);

  const Directive& directive_;
  const Stages& stages_;
  std::string_view usage_;
  std::size_t next_ = 0;
};

// Returns the loops in order: "'y', 'x'".
std::string axis_names(const ScheduledStage& stage);
// Returns 'a', 'b', 'c'.
std::string quoted(const std::vector<std::string>& names);

}  // namespace ferry::schedule
