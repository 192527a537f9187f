// The loops of one stage.
//
// A stage without reduction stores each value in the innermost loop. A reduction keeps its partial results in a small
// local array with one element for every point of the loops inside its first reduction loop, so that a constant tile
// can live in registers:
//
//     for mo, no                      the loops outside the reduction
//       acc[mi, ni] = init            for mi, ni
//       for k                         the loops from the first reduction loop on, in schedule order
//         for mi, ni
//           acc[mi, ni] += ...
//       C[mo*4+mi, no*8+ni] = acc[mi, ni]      for mi, ni
//
// Lanes of a vectorised reduction loop are partial results too; they are combined before the store.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/schedule/stage_loops.h"

#include <vector>

namespace ferry::lower {

struct StageParts {
  std::string name;
  std::vector<ir::Axis> axes;          // the stage's own
  std::vector<ir::Expr> values;        // over the axes and stored buffers only: inlining is done
  std::vector<ir::BufferRef> outputs;  // where each value goes, indexed by the axes
};

ir::Stmt stage_nest(const StageParts& stage, const schedule::StageLoops& loops);

}  // namespace ferry::lower
