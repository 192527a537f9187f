// A point of the space that the default schedule is chosen from, as passed to the compiler.
#pragma once

#include <string>

namespace ferry {

struct PointText {
  // "C: tile=4x2, order=rows_outside": values for knobs of stages, with ';' or a newline between stages. Knobs that are
  // not named keep their defaults. With several functions, those of each one follow "def NAME". docs/autoschedule.md
  // describes it.
  std::string text;
  // Name of the text in messages.
  std::string name = "point";
};

}  // namespace ferry
