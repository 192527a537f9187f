// The function that a program becomes, as far as no schedule matters.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"

namespace ferry::lower {

// Returns the function without its body: parameters, symbols, requirements, number of operations. The buffer of an
// inout parameter is that of its initial contents.
ir::Function signature_of(const lang::Program& program);

// Returns a buffer for the values of a tensor, without their definition.
ir::BufferRef storage_of(ir::Buffer tensor, ir::Scope scope);

}  // namespace ferry::lower
