// Whether a record of another version of ferry still says something.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/tune/records/tune_record.h"

#include <optional>
#include <string_view>

namespace ferry::tune {

// The task of a record, as this version of ferry has it.
struct ReplayedTask {
  const Compiler& compiler;
  const lang::Program& program;
  const SizesByName& sizes;  // those that are not fixed in the program
  const Target& target;
  const ScheduleText* schedule = nullptr;  // the user's own; null: the default schedule's space
  // The program with the record's algorithm, if it has one; null: the program itself.
  const lang::Program* with_algorithm = nullptr;

  const lang::Program& of_point() const { return with_algorithm != nullptr ? *with_algorithm : program; }
};

// Returns the record with the values that lead to the schedule that was measured; nothing if none do. They are the
// record's own, or, where rules have got other knobs since, those that its point has by name, with defaults for the
// others: for that, stages must have the names that they had. The directives must be the same up to names. A record
// that is too long to have directives is judged by its values alone.
std::optional<TuneRecord> replayed(const TuneRecord& record, const ReplayedTask& task);

// Whether this version of ferry compiles the record's point and the default to the code that was measured. The record
// is one that replayed() returned. Compiles both.
bool has_same_code(const TuneRecord& record, const ReplayedTask& task);

// Whether two schedules are the same up to the names of stages, axes and tensors: "C: split m 4" and "Y: split i 4".
bool are_same_directives(std::string_view a, std::string_view b);

}  // namespace ferry::tune
