// Replaces operations on float16 and bfloat16 that the target lacks by float32 and integer operations, as ferry/expr.h
// defines them: each operation computes in float32 and rounds, conversions round once.
//
// Afterwards, values of these types are copied unchanged (Load, Store, Let, Select, IfThenElse, Broadcast), converted
// to their bits and back by CallOp::bitcast to and from u16, and
// - cast to and from f32 where converts_natively() holds; there are no other casts from or to them,
// - compared, added, subtracted, multiplied, divided, negated and reduced where computes_natively() holds.
//
// Requires explicit vectors: the sequences work on them lane by lane, and vectorize recognises reductions more easily
// before they are expanded. Runs before the last simplify, which folds the sequences on constants.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

bool converts_natively(DType type, const Target& target);
bool computes_natively(DType type, const Target& target);

ir::Function legalize_floats(ir::Function function, const Target& target);

}  // namespace ferry::passes
