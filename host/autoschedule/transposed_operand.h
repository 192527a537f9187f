// An elementwise stage of which one operand lies transposed in memory, such as an image that is stored pixel by pixel:
//
//     T(c, w) = X(w, c)                    for blocks of c and w:
//     Y(c, w) = S(c) * T(c, w) + R(c, w)     T: a tile, which code generation transposes in registers
//                                            Y: a row of the tile at a time
//
// Inlined, the operand would be gathered element by element.
#pragma once

#include "host/autoschedule/rule.h"

#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

struct TransposedOperand {
  std::string stage;     // copies the operand
  std::string reader;    // reads it, perhaps through inlined stages
  std::size_t axis = 0;  // the reader's axis along which neighbours are neighbours in the operand's memory
};

// Finds one in stages of which all but the reader would be inlined: those are named in `inlined`.
std::optional<TransposedOperand> find_transposed_operand(const schedule::Stages& stages,
                                                         const std::vector<std::string>& inlined, const Target& target);

// `context` is that of the reader. The knob `tile` has rows, along the axis above, and columns.
Match match_transposed_operand(const StageContext& context, const TransposedOperand& operand);

}  // namespace ferry::autoschedule
