// The text of a point: values for the knobs of a program's decisions, by stage and knob.
//
//     C: tile=4x2, order=rows_outside; D: lanes=8      ';' or a newline between stages
//     def mm                                           what follows is for this function
//
// '#' begins a comment. The knobs of a stage have different names, so the rule that has a knob needs no name.
#pragma once

#include "ferry/schedule/point_text.h"
#include "host/autoschedule/decisions.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

struct NamedValue {
  std::string stage, knob, value;
  bool operator==(const NamedValue&) const = default;
};

struct FunctionPoint {
  std::string function;  // empty: what stands before the first "def"
  std::vector<NamedValue> values;
};

// Returns the part before the first "def", which may have no values, and one for each "def". Throws CompileError for
// what is not of this form, for two values of one knob, and for two parts of one function.
std::vector<FunctionPoint> parse_point(const PointText& point);

// Returns the values that a function's decisions took, a line for each stage; parse_point() reads it.
std::string point_text(const DecidedSchedule& decided);

}  // namespace ferry::autoschedule
