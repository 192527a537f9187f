// Shorthands to build the functions that tests compile.
#pragma once

#include "ferry/operators.h"
#include "tests/unit/crosscompile/codegen/llvm/everywhere.h"

#include <bit>
#include <functional>

namespace ferry::codegen_test {

using namespace ir;

BufferRef make_buffer(const std::string& name, DType dtype, std::int64_t elements, Scope scope = Scope::parameter);
FunctionParameter tensor(const BufferRef& buffer, Direction direction);
Function make_function(const std::string& name, std::vector<FunctionParameter> parameters, Stmt body);

Stmt loop(const Expr& var, const Expr& extent, Stmt body, ForKind kind = ForKind::serial);
// Returns the indices of `lanes` elements from `first` on; a scalar for one lane.
Expr lanes_from(const Expr& first, std::uint32_t lanes);
Expr load(const BufferRef& buffer, const Expr& index, const Expr& mask = {});
Stmt store(const BufferRef& buffer, const Expr& index, const Expr& value, const Expr& mask = {});

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const unsigned char*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}
Bytes zeros(DType dtype, std::size_t elements);
Bytes scalar_bytes(std::int64_t value);

// Values that are critical for operations on this type: ends of ranges, powers of two, halves, NaN.
std::vector<double> float_edges(DType dtype);
std::vector<std::int64_t> int_edges(DType dtype);
// The same as memory with `elements` elements: edges first, then seeded random values over the whole range.
Bytes edge_bytes(DType dtype, std::size_t elements);
// Every pair of edge values, split into left and right operands.
struct Pairs {
  Bytes left, right;
  std::int64_t count = 0;
};
Pairs edge_pairs(DType dtype, std::size_t multiple_of);

// Builds out[i] = operation(in0[i], in1[i], ...) for all elements, `lanes` at a time.
Case elementwise(const std::string& name, const std::vector<DType>& inputs, DType output,
                 const std::vector<Bytes>& data, std::int64_t elements, std::uint32_t lanes,
                 const std::function<Expr(const std::vector<Expr>&)>& operation);

}  // namespace ferry::codegen_test
