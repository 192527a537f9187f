// A module whose kernel writes far outside its memory. No text compiles to such a kernel, so it is built from loop IR.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crosscompile/compile.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::test {

// astray(in f32[N] A, out f32[N] B)
inline std::vector<std::uint8_t> crashing_module(const Target& target,
                                                 std::shared_ptr<const ir::SourceLines> lines = nullptr) {
  const ir::Expr n = ir::Var::make("N");
  const auto tensor = [&](const char* name) {
    auto buffer = std::make_shared<ir::Buffer>();
    buffer->name = name;
    buffer->dtype = DType::f32;
    buffer->shape = {n};
    return buffer;
  };
  const ir::BufferRef a = tensor("A"), b = tensor("B");
  ir::Function function;
  function.name = "astray";
  function.parameters = {{"A", ParameterKind::tensor, Direction::in, a, {}},
                         {"B", ParameterKind::tensor, Direction::out, b, {}}};
  function.symbols = {n};
  function.lines = std::move(lines);
  function.body = ir::Store::make(b, {n + (std::int64_t{1} << 40)}, ir::Load::make(a, {0}));
  return compile_module(std::span(&function, 1), target).bytes;
}

}  // namespace ferry::test
