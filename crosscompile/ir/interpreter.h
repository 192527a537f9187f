// Runs a lowered function exactly as expr.h and stmt.h define it, one operation at a time, and checks every index. Slow
// and simple: it is the oracle that code generators are compared with. Works before and after every pass.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <stdexcept>

namespace ferry::ir {

// An access outside of a buffer, a read of an element of an allocated buffer before it is written, or a similar error;
// the message names buffer and index.
class InterpreterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The function needs more memory than the interpreter provides, which says nothing about its correctness.
class InterpreterLimit : public InterpreterError {
 public:
  using InterpreterError::InterpreterError;
};

// `arguments` is what a compiled kernel takes (ferry/runtime_api.h): one pointer per parameter, then one int64_t per
// symbol. Returns what the kernel would return.
std::int32_t interpret(const Function& function, void* const* arguments);

}  // namespace ferry::ir
