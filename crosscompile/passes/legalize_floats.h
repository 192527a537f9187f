// Replaces what the target cannot do with float16 and bfloat16 by float32 and integers, as ir/expr.h defines it: each
// operation computes in float32 and rounds, conversions round once.
//
// After: values of these types are moved as they are (Load, Store, Let, Select, IfThenElse, Broadcast), turned into
// their bits and back by "bitcast" to and from u16, and
// - cast to and from f32 where converts_natively() holds; there are no other casts from or to them,
// - compared, added, subtracted, multiplied, divided, negated and reduced where computes_natively() holds.
//
// Before: vectors are explicit; the sequences work on them lane by lane, and vectorize recognises reductions more
// easily before they are spelled out. Stands before the last simplify, which folds what the sequences do to constants.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

bool converts_natively(DType type, const Target& target);
bool computes_natively(DType type, const Target& target);

ir::Function legalize_floats(ir::Function function, const Target& target);

}  // namespace ferry::passes
