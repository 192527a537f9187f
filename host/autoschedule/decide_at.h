// The schedule at a point that names some of its values, as a user does.
#pragma once

#include "host/autoschedule/decisions.h"
#include "host/autoschedule/point_text.h"

#include <span>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns the sizes that the default schedule is decided at: none if its directives would not be legal at any size.
// The points of a program belong to the tree of decisions at these sizes.
Sizes sizes_of_space(const lang::Program& program, const Target& target, const Sizes& sizes);

// Takes the named values, and the defaults of all other knobs. Which decisions follow, and what they offer, may depend
// on the values. Throws CompileError with `name`, the text's name in messages, for a stage without decisions, for a
// knob that its decisions do not have, for a value that is not among the knob's candidates, and for a schedule that is
// legal only at the given sizes.
DecidedSchedule decide_at(const lang::Program& program, const Target& target, const Sizes& sizes,
                          std::span<const NamedValue> values, const std::string& name);

// Takes values in the order of the decisions, as PointText::in_order has them. Throws CompileError for a value that is
// not among the candidates of its knob, for more values than there are knobs, and for a schedule that is legal only at
// the given sizes.
DecidedSchedule decide_in_order(const lang::Program& program, const Target& target, const Sizes& sizes,
                                std::span<const std::string> values, const std::string& name);

// Returns the same for each program. Values before the first "def" are those of the only program. `others` are names of
// functions that are not among the programs but for which the text may have parts. Throws CompileError for a part of an
// unknown function.
std::vector<DecidedSchedule> decide_module_at(std::span<const lang::Program> programs, const PointText& point,
                                              const Target& target, const std::vector<std::string>& others,
                                              const Sizes& sizes);

}  // namespace ferry::autoschedule
