// A point of the space that the default schedule is chosen from, as passed to the compiler.
#pragma once

#include <string>
#include <vector>

namespace ferry {

struct PointText {
  // "C: tile=4x2, order=rows_outside": values for knobs of stages, with ';' or a newline between stages. Knobs that are
  // not named keep their defaults. With several functions, those of each one follow "def NAME". docs/autoschedule.md
  // describes it.
  std::string text = {};
  // Name of the text in messages.
  std::string name = "point";
  // In place of a text, for one function: the values of its knobs in the order of its decisions, so that names have no
  // part in it; "#1" is the second candidate of a knob. Those that are missing at the end keep their defaults.
  std::vector<std::string> in_order = {};
};

}  // namespace ferry
