// The language in C++: tensors and what computes them, and its text notation. docs/language.md describes both.
//
//     using namespace ferry::lang;
//     const Expr n = var("n");
//     const Tensor a = placeholder({n}, ferry::DType::f32, "A");
//     const Tensor b = compute({n}, [&](auto& i) { return exp(a(i[0])) + 1.0f; }, "B");
//     const Program program = make_program("example", {in(a), out(b)});
#pragma once

#include "ferry/lang/extern_stage.h"
#include "ferry/lang/math.h"
#include "ferry/lang/program.h"
#include "ferry/lang/sequence.h"
#include "ferry/lang/tensor.h"
#include "ferry/lang/text.h"
#include "ferry/lang/user_reducer.h"
