// Helpers for the tests of the interpreter and the simplifier: buffers, and running a body on vectors.
#pragma once

#include "crosscompile/ir/interpreter.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ferry::ir {

inline BufferRef make_buffer(const char* name, DType dtype, std::vector<Expr> shape, Scope scope = Scope::parameter,
                             std::vector<Expr> strides = {}) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->strides = std::move(strides);
  made->scope = scope;
  return made;
}

// A function under construction, with the arguments of its call.
struct Harness {
  Function function;
  std::vector<void*> pointers;
  std::vector<std::int64_t> sizes;

  Harness() { function.name = "test"; }

  template <class T>
  void tensor(const BufferRef& buffer, std::vector<T>& data, Direction direction = Direction::inout) {
    function.parameters.push_back({buffer->name, ParameterKind::tensor, direction, buffer, {}});
    pointers.push_back(data.data());
  }

  template <class T>
  void scalar(const Expr& var, T& value) {
    function.parameters.push_back({var.as<Var>()->name, ParameterKind::scalar, Direction::in, nullptr, var});
    pointers.push_back(&value);
  }

  void symbol(const Expr& var, std::int64_t value) {
    function.symbols.push_back(var);
    sizes.push_back(value);
  }

  std::int32_t run(Stmt body) {
    function.body = std::move(body);
    std::vector<void*> arguments = pointers;
    for (std::int64_t& size : sizes) arguments.push_back(&size);
    return interpret(function, arguments.data());
  }

  // Returns the message of the InterpreterError, or "none".
  std::string complaint(Stmt body) {
    try {
      run(std::move(body));
    } catch (const InterpreterError& error) {
      return error.what();
    }
    return "none";
  }
};

}  // namespace ferry::ir
