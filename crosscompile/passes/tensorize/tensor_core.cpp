#include "crosscompile/passes/tensorize/tensor_core.h"

#include "crosscompile/analysis/modulus.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/match_nest.h"
#include "ferry/operators.h"

#include <algorithm>
#include <memory>

namespace ferry::passes {
namespace {

using namespace ir;

// Those that tensorize can name.
constexpr Instruction kKnown[] = {Instruction::mma_m16n8k16, Instruction::tile_dot};

constexpr std::int64_t kColumnsOfThreads = 4, kRowsOfThreads = 8;
constexpr std::int64_t kDepth = 16, kPair = 2;
constexpr std::int64_t kAligned = 8;  // elements that ldmatrix reads at once

BufferRef buffer_of(std::string name, DType type, std::vector<Expr> shape, std::vector<Expr> strides) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = std::move(name);
  buffer->dtype = type;
  buffer->shape = std::move(shape);
  buffer->strides = std::move(strides);
  return buffer;
}

// One way in which a warp's product may be arranged in loops and memory.
struct TileShape {
  std::int64_t rows = 1, columns = 1;
  bool transpose_a = false, transpose_b = false;
};

// The product as a function that also contains the loops over the warp's threads; match_nest compares with it.
struct Pattern {
  Function function;
  Expr a_stride, b_stride;        // symbols: the row strides of A and of B in memory
  std::vector<Expr> sum_strides;  // symbols: the strides along mo, io, no and ji
};

Pattern make_pattern(const TileShape& shape, DType type) {
  Pattern pattern;
  Function& function = pattern.function;
  function.name = instruction_name(Instruction::mma_m16n8k16);
  struct Level {
    Expr var;
    std::int64_t extent;
  };
  const Expr y = Var::make("y"), x = Var::make("x"), mo = Var::make("mo"), io = Var::make("io"), no = Var::make("no"),
             ji = Var::make("ji"), k = Var::make("k");
  std::vector<Level> levels{{y, kRowsOfThreads}, {x, kColumnsOfThreads}};
  std::vector<Expr> at, sum_shape;
  const auto add = [&](const Expr& var, std::int64_t extent) {
    const Expr stride = Var::make("sums_along_" + var.as<Var>()->name);
    pattern.sum_strides.push_back(extent == 1 ? Expr(0) : stride);
    if (extent == 1) return;
    levels.push_back({var, extent});
    at.push_back(var);
    sum_shape.push_back(extent);
    function.symbols.push_back(stride);
  };
  add(mo, shape.rows);
  add(io, kPair);
  add(no, shape.columns);
  add(ji, kPair);
  levels.push_back({k, kDepth});
  pattern.a_stride = Var::make("stride_of_A");
  pattern.b_stride = Var::make("stride_of_B");
  std::vector<Expr> strides_of_sums = function.symbols;
  function.symbols.push_back(pattern.a_stride);
  function.symbols.push_back(pattern.b_stride);
  const auto strides = [](bool is_first, const Expr& stride) {
    return is_first ? std::vector<Expr>{stride, Expr(1)} : std::vector<Expr>{Expr(1), stride};
  };
  const BufferRef sums = buffer_of("C", DType::f32, sum_shape, strides_of_sums);
  const BufferRef a =
      buffer_of("A", type, {Expr(shape.rows * 16), Expr(kDepth)}, strides(!shape.transpose_a, pattern.a_stride));
  const BufferRef b =
      buffer_of("B", type, {Expr(kDepth), Expr(shape.columns * 8)}, strides(shape.transpose_b, pattern.b_stride));
  const Expr row = (shape.rows == 1 ? Expr(0) : mo * 16) + io * 8 + y;
  const Expr column = (shape.columns == 1 ? Expr(0) : no * 8) + x * 2 + ji;
  const Expr product = cast(DType::f32, Load::make(a, {row, k})) * cast(DType::f32, Load::make(b, {k, column}));
  function.body = Store::make(sums, at, Load::make(sums, at) + product);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    function.body = For::make(level->var, 0, Expr(level->extent), ForKind::serial, function.body);
  for (const BufferRef& buffer : {sums, a, b})
    function.parameters.push_back({buffer->name, ParameterKind::tensor, Direction::inout, buffer, {}, false});
  return pattern;
}

// Returns the type that is converted for the multiplication; float32 when there is no conversion.
DType narrow_type(const Expr& value) {
  if (const auto* binary = value.as<Binary>()) {
    const DType left = narrow_type(binary->left);
    return left == DType::f32 ? narrow_type(binary->right) : left;
  }
  const auto* converted = value.as<Cast>();
  return converted == nullptr ? DType::f32 : converted->value.type().code;
}

// Returns the candidate shapes: loops other than those that always occur may run over the rows and columns of pieces.
std::vector<TileShape> tile_shapes(const LoopNest& nest) {
  std::vector<std::int64_t> others;
  std::vector<std::int64_t> always{kPair, kPair, kDepth, kRowsOfThreads, kColumnsOfThreads};
  for (const LoopNest::Loop& loop : nest.loops) {
    const auto known = std::find(always.begin(), always.end(), loop.extent);
    if (known == always.end())
      others.push_back(loop.extent);
    else
      always.erase(known);
  }
  std::vector<TileShape> sizes;
  if (!always.empty() || others.size() > 2) return {};
  if (others.empty()) sizes = {{1, 1}};
  if (others.size() == 1) sizes = {{others[0], 1}, {1, others[0]}};
  if (others.size() == 2) sizes = {{others[0], others[1]}, {others[1], others[0]}};
  std::vector<TileShape> shapes;
  for (const TileShape& size : sizes)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {true, false})
        shapes.push_back({size.rows, size.columns, transpose_a, transpose_b});
  return shapes;
}

const NestMatch::Operand& operand(const NestMatch& match, std::size_t i) { return match.operands.at(i); }

Expr value_of(const NestMatch& match, const Pattern& pattern, const Expr& symbol) {
  for (std::size_t i = 0; i < pattern.function.symbols.size(); ++i)
    if (pattern.function.symbols[i].same_as(symbol)) return match.symbols[i];
  return symbol;
}

class Arguments {
 public:
  Arguments(const TileShape& shape, const Pattern& pattern, const NestMatch& match, const Warp& warp)
      : shape_(shape), pattern_(pattern), match_(match), warp_(warp) {}

  std::vector<Expr> make() {
    check_place(operand(match_, 0), Scope::local, "in registers (cache_write ... local)");
    for (const std::size_t i : {1, 2}) check_place(operand(match_, i), Scope::shared, "in shared memory (cache_read)");
    arguments_ = {Expr(shape_.rows), Expr(shape_.columns), Expr(shape_.transpose_a ? 1 : 0),
                  Expr(shape_.transpose_b ? 1 : 0)};
    // Each thread gives ldmatrix the address of one row of 8 elements; eight threads together address one piece. The
    // pieces of A go down and then to the right, those of B the other way round; where an operand is transposed in
    // memory, the order is swapped again.
    const Expr in_eight = warp_.y % 2 * 4 + warp_.x, second = warp_.y / 2 % 2 * 8, third = warp_.y / 4 * 8;
    for (std::int64_t i = 0; i < shape_.rows; ++i)
      add_rows(1, pattern_.a_stride, i, shape_.transpose_a, in_eight + (shape_.transpose_a ? third : second),
               shape_.transpose_a ? second : third);
    for (std::int64_t i = 0; i < (shape_.columns + 1) / 2; ++i)
      add_rows(2, pattern_.b_stride, i, shape_.transpose_b, in_eight + (shape_.transpose_b ? second : third),
               shape_.transpose_b ? third : second);
    add_sums();
    return std::move(arguments_);
  }

 private:
  static void check_place(const NestMatch::Operand& found, Scope scope, const char* where) {
    if (found.buffer->scope != scope)
      throw CompileError("expected '" + found.buffer->name + "' " + where + ", where the threads of a warp find it");
  }

  // `along`: whether the pieces follow each other along rows of memory.
  void add_rows(std::size_t which, const Expr& symbol, std::int64_t piece, bool along, const Expr& row,
                const Expr& column) {
    const NestMatch::Operand& found = operand(match_, which);
    const Expr stride = value_of(match_, pattern_, symbol);
    const Expr first = simplify(found.got.base + Expr(16 * piece) * (along ? Expr(1) : stride));
    if (!analysis::is_multiple(first, kAligned) || !analysis::is_multiple(simplify(stride), kAligned))
      throw CompileError("expected rows of '" + found.buffer->name +
                         "' that begin at multiples of 16 bytes, got steps of " + to_text(simplify(stride)) +
                         " elements from " + to_text(first) + "; storage_align can put them there");
    arguments_.push_back(address_of(found.buffer, {simplify(first + row * stride + column)}));
  }

  void add_sums() {
    const NestMatch::Operand& found = operand(match_, 0);
    std::vector<Expr> strides;
    for (const Expr& symbol : pattern_.sum_strides) strides.push_back(value_of(match_, pattern_, symbol));
    for (std::int64_t mo = 0; mo < shape_.rows; ++mo)
      for (std::int64_t no = 0; no < shape_.columns; ++no)
        for (std::int64_t io = 0; io < kPair; ++io)
          for (std::int64_t ji = 0; ji < kPair; ++ji) {
            const Expr at = found.got.base + Expr(mo) * strides[0] + Expr(io) * strides[1] + Expr(no) * strides[2] +
                            Expr(ji) * strides[3];
            arguments_.push_back(address_of(found.buffer, {simplify(at)}));
          }
  }

  const TileShape& shape_;
  const Pattern& pattern_;
  const NestMatch& match_;
  const Warp& warp_;
  std::vector<Expr> arguments_;
};

}  // namespace

std::optional<Instruction> find_instruction(std::string_view name) {
  for (const Instruction known : kKnown)
    if (name == instruction_name(known)) return known;
  return std::nullopt;
}

std::vector<std::string> instruction_names() {
  std::vector<std::string> names;
  for (const Instruction known : kKnown) names.emplace_back(instruction_name(known));
  return names;
}

TensorCoreTile tile_of(std::span<const Expr> arguments) {
  constexpr std::size_t kNumbers = 4;
  TensorCoreTile tile;
  tile.rows = *as_int(arguments[0]);
  tile.columns = *as_int(arguments[1]);
  tile.transpose_a = *as_int(arguments[2]) != 0;
  tile.transpose_b = *as_int(arguments[3]) != 0;
  const auto a = static_cast<std::size_t>(tile.rows), b = static_cast<std::size_t>((tile.columns + 1) / 2);
  tile.a = arguments.subspan(kNumbers, a);
  tile.b = arguments.subspan(kNumbers + a, b);
  tile.sums = arguments.subspan(kNumbers + a + b);
  return tile;
}

std::vector<Expr> match_tensor_core(const Stmt& definition, const Warp& warp) {
  auto nest = as_nest(definition);
  if (!nest) throw CompileError("expected one store inside of loops of constant extents");
  if (!nest->conditions.empty())
    throw CompileError("expected whole pieces, got the condition '" + to_text(nest->conditions.front()) +
                       "'; split axes by numbers that divide their sizes, which have to be known (--size)");
  if (!warp.x.defined() || !warp.y.defined())
    throw CompileError(
        "expected 4 threads of a warp along threadIdx.x, of which each has 2 columns, and 8 along "
        "threadIdx.y, of which each has a row");
  nest->loops.insert(nest->loops.begin(), {{warp.y, kRowsOfThreads}, {warp.x, kColumnsOfThreads}});
  const DType type = narrow_type(nest->store.as<Store>()->value);
  if (!Type(type).is_narrow_float())
    throw CompileError(
        "expected products of float16 or bfloat16 values, added up in float32: sum(f32(A[i, k]) * "
        "f32(B[k, j]), k)");
  std::string mismatch, first_mismatch;
  for (const TileShape& shape : tile_shapes(*nest)) {
    const Pattern pattern = make_pattern(shape, type);
    const auto check = [&](NestMatch& found) { return check_strides(pattern.function, found); };
    if (const auto match = match_nest(pattern.function, *nest, check, mismatch))
      return Arguments(shape, pattern, *match, warp).make();
    if (first_mismatch.empty()) first_mismatch = mismatch;
  }
  if (first_mismatch.empty())
    first_mismatch =
        "expected loops of 2 halves of 16 rows, of 2 columns and of 16 to add up, and at most one over "
        "more rows and one over more columns";
  throw CompileError(first_mismatch);
}

}  // namespace ferry::passes
