// The definitions of a program as another program that is to be compiled: it computes all elements of the outputs in
// float64, each with a bound on the rounding error of a correct kernel, as the reference evaluator does for some.
#pragma once

#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ferry::lang {

struct ReferenceProgram {
  // Has the inputs and scalars of the original in their order, an inout as an input, and then a value for each output,
  // in the output's own type, followed by its error, an f64, if it has one.
  Program program;
  struct Output {
    std::size_t parameter = 0;  // the original's
    bool has_error = false;     // otherwise its values are exact
  };
  std::vector<Output> outputs;

  // Says how long a stage takes on one core: about `iterations` (over symbols and scalars) times `nanoseconds`.
  struct Cost {
    Expr iterations;
    double nanoseconds = 0;
    Expr elements;  // f64 or narrower, which the stage stores
  };
  std::vector<Cost> costs;
};

// The values are those of the reference evaluator, except that the products in a sum are not rounded before they are
// added, and that float64 rounds. The errors follow the same rules for RoundingBound::worst_case and square_root, and
// are no larger, up to such rounding: the largest partial sum is taken to be the sum itself, or a random walk's. A
// bound may be infinite, or at least kUnbounded, or no number: nothing is known then.
//
// Throws CompileError that says why, "it computes elements in order", for a program that cannot be said so.
ReferenceProgram reference_program(const Program& program, RoundingBound bound);

// The estimated seconds of a call on this many threads, and the bytes of its tensors except inputs. `symbols` and
// `arguments` are those of a call of `program`, of which `reference` was made, as of Reference.
struct ReferenceCost {
  double seconds = 0, bytes = 0;
};
ReferenceCost cost_of(const ReferenceProgram& reference, const Program& program, std::span<const std::int64_t> symbols,
                      std::span<const void* const> arguments, int threads);

}  // namespace ferry::lang
