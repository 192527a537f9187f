// What lowering has decided about one stage: the points it computes, its loops over them, and where they are kept.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <list>
#include <string>
#include <vector>

namespace ferry::lower {

using ir::Expr;

// The values of one axis that are computed: loops run over [min, min + extent), and of those only the points from
// `first` to `last` (where defined) are needed.
struct Needed {
  Expr min, extent;
  Expr first, last;

  Expr lowest() const { return first.defined() ? first : min; }
  Expr highest() const;
};

// Memory of one tensor: `buffer` holds the points from `origin` on.
struct Storage {
  ir::BufferRef buffer;
  std::vector<Expr> origin;         // one an axis; empty: all 0
  std::vector<std::int64_t> folds;  // one an axis: positions modulo this, 0 for not; empty: none
  const schedule::Layout* layout = nullptr;

  // The indices into `buffer` of an element of the tensor.
  std::vector<Expr> indices(const std::vector<Expr>& point) const;
};

struct Nest {
  const schedule::ScheduledStage* stage = nullptr;
  std::vector<Expr> values;  // with inlined stages in place
  std::vector<Needed> needed;
  schedule::StageLoops loops;    // over `needed`
  std::vector<Storage> storage;  // one an output

  const std::string& name() const { return stage->name; }
  const ir::Reduce* reduction() const { return values.front().as<ir::Reduce>(); }
  // The stage's axes, then those of its reduction.
  std::vector<ir::Axis> all_axes() const;
  // Which points of the loops are needed, over the stage's axes.
  std::vector<Expr> conditions() const;
};

// Consumers first; addresses stay.
using Nests = std::list<Nest>;

const Nest* find_nest(const Nests& nests, const std::string& stage);

// The loops around the innermost point of a nest, those of the nests around it included, outermost first: only those
// inside of `place`.
std::vector<schedule::Loop> loops_inside(const Nests& nests, const Nest& nest, const schedule::Attachment& place);
// The loops at and around `place`, outermost first.
std::vector<schedule::Loop> loops_around(const Nests& nests, const schedule::Attachment& place);

}  // namespace ferry::lower
