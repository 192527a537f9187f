// The decisions of lowering about one stage: the points it computes, its loops over them, and their storage.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <list>
#include <string>
#include <vector>

namespace ferry::lower {

using ir::Expr;

// The computed interval of one axis: loops run over [min, min + extent); only the points from `first` to `last` (where
// defined) are required.
struct RequiredRange {
  Expr min, extent;
  Expr first, last;

  Expr lowest() const { return first.defined() ? first : min; }
  Expr highest() const;
};

// The storage of one tensor: `buffer` holds the points from `origin` on.
struct Storage {
  ir::BufferRef buffer;
  std::vector<Expr> origin;         // one for each axis; empty: all 0
  std::vector<std::int64_t> folds;  // one for each axis: positions are modulo this; 0: not folded; empty: none is
  const schedule::Layout* layout = nullptr;

  // Returns the indices into `buffer` of an element of the tensor.
  std::vector<Expr> indices(const std::vector<Expr>& point) const;
};

struct Nest {
  const schedule::ScheduledStage* stage = nullptr;
  std::vector<Expr> values;  // with inlined stages substituted
  std::vector<Expr> place;   // the same for ScheduledStage::place
  std::vector<RequiredRange> required;
  schedule::StageLoops loops;                                // over `required`
  std::vector<schedule::StageLoops::AxisValue> axis_values;  // as of the loops
  std::vector<Storage> storage;                              // one for each output

  const std::string& name() const { return stage->name; }
  const ir::Reduce* reduction() const { return values.front().as<ir::Reduce>(); }
  // Returns the values and the place.
  std::vector<Expr> expressions() const;
  // Returns the stage's axes followed by those of its reduction.
  std::vector<ir::Axis> all_axes() const;
  // Returns conditions over the stage's axes that the required points fulfil.
  std::vector<Expr> conditions() const;
};

// A loop with its id. Where a loop is emitted several times, only one of the copies contains its attached stages.
struct LoopCopy {
  schedule::Loop loop;
  std::size_t id = 0;
};

// Consumers first; element addresses are stable.
using Nests = std::list<Nest>;

const Nest* find_nest(const Nests& nests, const std::string& stage);

// Returns the loops around the innermost point of a nest, including those of the nests around it, outermost first, but
// only those inside `place`.
std::vector<schedule::Loop> loops_inside(const Nests& nests, const Nest& nest, const schedule::Attachment& place);
// Returns the loops at and around `place`, outermost first.
std::vector<schedule::Loop> loops_around(const Nests& nests, const schedule::Attachment& place);
// Returns the conditions on the loops' variables that hold inside the loops.
std::vector<Expr> facts_of(const std::vector<schedule::Loop>& loops);

}  // namespace ferry::lower
