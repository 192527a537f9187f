#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace ferry::codegen_test {
namespace {

void append(Bytes& to, const void* value, std::size_t bytes) {
  const auto* first = static_cast<const unsigned char*>(value);
  to.insert(to.end(), first, first + bytes);
}

void append_float(Bytes& to, DType dtype, double value) {
  if (dtype == DType::f64) return append(to, &value, 8);
  const float single = static_cast<float>(value);
  if (dtype == DType::f32) return append(to, &single, 4);
  const std::uint16_t narrow = dtype == DType::f16 ? f64_to_f16(value) : f64_to_bf16(value);
  append(to, &narrow, 2);
}

Bytes edge_list(DType dtype) {
  Bytes bytes;
  if (is_float(dtype)) {
    for (const double value : float_edges(dtype)) append_float(bytes, dtype, value);
  } else {
    for (const std::int64_t value : int_edges(dtype)) append(bytes, &value, dtype_bytes(dtype));
  }
  return bytes;
}

}  // namespace

BufferRef make_buffer(const std::string& name, DType dtype, std::int64_t elements, Scope scope) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = {Expr(elements)};
  buffer->scope = scope;
  return buffer;
}

FunctionParameter tensor(const BufferRef& buffer, Direction direction) {
  return {buffer->name, ParameterKind::tensor, direction, buffer, {}};
}

Function make_function(const std::string& name, std::vector<FunctionParameter> parameters, Stmt body) {
  Function function;
  function.name = name;
  function.parameters = std::move(parameters);
  function.body = std::move(body);
  return function;
}

Stmt loop(const Expr& var, const Expr& extent, Stmt body, ForKind kind) {
  return For::make(var, Expr(0), extent, kind, std::move(body));
}

Expr lanes_from(const Expr& first, std::uint32_t lanes) {
  return lanes == 1 ? first : Ramp::make(first, Expr(1), lanes);
}

Expr load(const BufferRef& buffer, const Expr& index, const Expr& mask) { return Load::make(buffer, {index}, mask); }

Stmt store(const BufferRef& buffer, const Expr& index, const Expr& value, const Expr& mask) {
  return Store::make(buffer, {index}, value, mask);
}

Bytes zeros(DType dtype, std::size_t elements) { return Bytes(dtype_bytes(dtype) * elements); }

Bytes scalar_bytes(std::int64_t value) { return bytes_of(std::vector<std::int64_t>{value}); }

std::vector<double> float_edges(DType dtype) {
  std::vector<double> edges{0.0,   -0.0,  1.0,          -1.0,          0.5,          -0.5,      1.5,
                            2.5,   -2.5,  127.5,        -128,          255,          256.25,    32767,
                            65504, 65536, 2147483648.0, -2147483648.0, 4294967040.0, 16777217.0};
  if (dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16) {
    for (const double value : {9.2233720368547758e18, -9.2233720368547758e18, 1.8446744073709552e19, 1e30, -1e30}) {
      edges.push_back(value);
    }
  }
  for (const double value : {HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) edges.push_back(value);
  return edges;
}

std::vector<std::int64_t> int_edges(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  const int bits = static_cast<int>(dtype_bytes(dtype)) * 8;
  const std::int64_t top = std::int64_t{1} << (bits - 2);
  std::vector<std::int64_t> edges{0, 1, 2, 3, 5, 7, 8, bits - 1, bits, bits + 1, 100, top, 2 * (top - 1) + 1};
  // Negative numbers for signed types; as bit patterns they are in the upper half of the range of unsigned ones.
  for (const std::int64_t value : {-1, -2, -3, -7, -100}) edges.push_back(value);
  edges.push_back(-2 * (top - 1) - 2);
  edges.push_back(-2 * (top - 1) - 1);
  return edges;
}

Bytes edge_bytes(DType dtype, std::size_t elements) {
  Bytes bytes = edge_list(dtype);
  std::mt19937_64 random(static_cast<unsigned>(dtype));
  while (bytes.size() < elements * dtype_bytes(dtype)) {
    const std::uint64_t bits = random();
    if (is_float(dtype)) {
      // Values of all relevant magnitudes, never subnormal.
      const double mantissa = 1.0 + static_cast<double>(bits >> 12) * 0x1p-52;
      append_float(bytes, dtype, std::ldexp((bits & 1) != 0 ? -mantissa : mantissa, static_cast<int>(bits % 26) - 12));
    } else {
      const std::uint64_t value = dtype == DType::boolean ? bits & 1 : bits;
      append(bytes, &value, dtype_bytes(dtype));
    }
  }
  bytes.resize(elements * dtype_bytes(dtype));
  return bytes;
}

Pairs edge_pairs(DType dtype, std::size_t multiple_of) {
  const Bytes edges = edge_list(dtype);
  const std::size_t width = dtype_bytes(dtype);
  Pairs pairs;
  for (std::size_t i = 0; i < edges.size(); i += width) {
    for (std::size_t j = 0; j < edges.size(); j += width) {
      append(pairs.left, edges.data() + i, width);
      append(pairs.right, edges.data() + j, width);
    }
  }
  while (pairs.left.size() / width % multiple_of != 0) {
    append(pairs.left, edges.data(), width);
    append(pairs.right, edges.data(), width);
  }
  pairs.count = static_cast<std::int64_t>(pairs.left.size() / width);
  return pairs;
}

Case elementwise(const std::string& name, const std::vector<DType>& inputs, DType output,
                 const std::vector<Bytes>& data, std::int64_t elements, std::uint32_t lanes,
                 const std::function<Expr(const std::vector<Expr>&)>& operation) {
  Case one;
  const Expr i = Var::make("i");
  const Expr at = lanes_from(i * Expr(std::int64_t{lanes}), lanes);
  std::vector<FunctionParameter> parameters;
  std::vector<Expr> values;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const BufferRef buffer = make_buffer("in" + std::to_string(k), inputs[k], elements);
    parameters.push_back(tensor(buffer, Direction::in));
    values.push_back(load(buffer, at));
    one.arguments.push_back(data[k]);
  }
  const BufferRef out = make_buffer("out", output, elements);
  parameters.push_back(tensor(out, Direction::out));
  one.arguments.push_back(zeros(output, static_cast<std::size_t>(elements)));
  one.function =
      make_function(name, std::move(parameters), loop(i, Expr(elements / lanes), store(out, at, operation(values))));
  return one;
}

}  // namespace ferry::codegen_test
