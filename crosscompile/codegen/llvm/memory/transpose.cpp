#include "crosscompile/codegen/llvm/memory/transpose.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/codegen/llvm/memory/strided.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace ferry::codegen {
namespace {

using llvm::Value;

// With fewer rows the consecutive parts are too short to pay for the shuffles, unless there is no gap between them.
constexpr std::size_t kMinRows = 4;
constexpr std::int64_t kMinStride = 2;

// A store of lanes that are `stride` elements apart; its first lane is `offset` elements after that of the run's first
// store.
struct Row {
  const ir::Store* store;
  std::int64_t offset;
};

struct Run {
  std::vector<Row> rows;
  std::int64_t stride = 0;
  std::uint32_t lanes = 0;
};

// Returns null for any other statement, and where a value depends on the tensor's previous contents.
const ir::Store* strided_store(const ir::Stmt& stmt) {
  const auto* store = stmt.as<ir::Store>();
  if (store == nullptr || store->mask.defined() || store->indices.size() != 1 || store->value.type().is_scalar())
    return nullptr;
  const auto* ramp = store->indices[0].as<ir::Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
  if (stride == nullptr || *stride < kMinStride) return nullptr;
  if (!std::has_single_bit(store->value.type().lanes)) return nullptr;
  return analysis::reads(store->value, store->buffer.get()) ? nullptr : store;
}

const ir::Ramp& ramp_of(const ir::Store& store) { return *store.indices[0].as<ir::Ramp>(); }

// Returns the longest run of similar stores at constant distances.
Run run_of(std::span<const ir::Stmt> statements) {
  Run run;
  const ir::Store* first = nullptr;
  for (const ir::Stmt& stmt : statements) {
    const ir::Store* store = strided_store(stmt);
    if (store == nullptr) break;
    if (first == nullptr) first = store;
    const std::int64_t stride = *ir::as_int(ramp_of(*store).stride);
    if (store->buffer != first->buffer || store->value.type() != first->value.type()) break;
    if (!run.rows.empty() && stride != run.stride) break;
    const ir::Expr apart = passes::simplify(ramp_of(*store).base - ramp_of(*first).base);
    const std::int64_t* offset = ir::as_int(apart);
    if (offset == nullptr) break;
    run.stride = stride;
    run.lanes = store->value.type().lanes;
    run.rows.push_back({store, *offset});
  }
  return run;
}

// Returns whether elements are written twice, which must happen in order.
bool overlap(const Run& run) {
  std::set<std::int64_t> written;
  for (const Row& row : run.rows)
    for (std::int64_t lane = 0; lane < run.lanes; ++lane)
      if (!written.insert(row.offset + lane * run.stride).second) return true;
  return false;
}

// Groups rows whose offsets increase by one, at most as many as a vector has lanes.
std::vector<std::vector<Row>> tiles_of(Run run) {
  std::sort(run.rows.begin(), run.rows.end(), [](const Row& a, const Row& b) { return a.offset < b.offset; });
  std::vector<std::vector<Row>> tiles;
  for (const Row& row : run.rows) {
    const bool continues =
        !tiles.empty() && tiles.back().back().offset + 1 == row.offset && tiles.back().size() < run.lanes;
    if (!continues) tiles.emplace_back();
    tiles.back().push_back(row);
  }
  return tiles;
}

// Whether the transposed rows have no gaps between them.
bool fills_memory(const std::vector<Row>& tile, const Run& run) {
  return std::has_single_bit(tile.size()) && static_cast<std::int64_t>(tile.size()) == run.stride;
}

// Transposes vectors of `lanes` elements, whose number is a power of two: concatenated, the results hold lane 0 of all
// rows, then lane 1, and so on. Each step is a perfect shuffle of the whole sequence.
std::vector<Value*> interleaved(FunctionState& state, std::vector<Value*> rows, std::uint32_t lanes) {
  llvm::SmallVector<int, 64> low, high;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const int lane = static_cast<int>(i / 2 + (i % 2) * lanes);
    low.push_back(lane);
    high.push_back(lane + static_cast<int>(lanes / 2));
  }
  const std::size_t half = rows.size() / 2;
  for (std::size_t step = 1; step < rows.size(); step *= 2) {
    std::vector<Value*> next;
    for (std::size_t i = 0; i < half; ++i)
      for (const auto& order : {low, high})
        next.push_back(state.builder.CreateShuffleVector(rows[i], rows[i + half], order));
    rows = std::move(next);
  }
  return rows;
}

Value* first_lanes(FunctionState& state, std::uint32_t count, std::uint32_t lanes) {
  llvm::SmallVector<llvm::Constant*, 64> bits;
  for (std::uint32_t i = 0; i < lanes; ++i) bits.push_back(state.builder.getInt1(i < count));
  return llvm::ConstantVector::get(bits);
}

void store_tile(FunctionState& state, const std::vector<Row>& tile, const Run& run) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Store& first = *tile[0].store;
  const ir::Type type = first.value.type();
  const auto count = static_cast<std::uint32_t>(tile.size());
  const Access access = access_to(state, first.buffer, type.with_lanes(count));
  Value* base = emit_expr(state, ramp_of(first).base);
  std::vector<Value*> rows;
  for (const Row& row : tile) rows.push_back(to_memory(state, type, emit_expr(state, row.store->value)));
  const std::uint32_t padded = std::bit_ceil(count);
  rows.resize(padded, llvm::PoisonValue::get(rows[0]->getType()));
  const std::vector<Value*> transposed = interleaved(state, std::move(rows), run.lanes);
  if (fills_memory(tile, run)) {
    const Access whole = access_to(state, first.buffer, type);
    for (std::size_t i = 0; i < transposed.size(); ++i)
      store_consecutive(state, whole, b.CreateAdd(base, b.getInt64(i * run.lanes)), transposed[i], nullptr);
    return;
  }
  // A part whose length is not a power of two is stored as a whole vector under a mask, where masks cost nothing.
  const bool masked = padded != count && state.module.target.capabilities.masks;
  const std::uint32_t width = masked ? padded : count;
  Value* mask = masked ? first_lanes(state, count, padded) : nullptr;
  for (std::uint32_t lane = 0; lane < run.lanes; ++lane) {
    const std::uint32_t at = lane * padded % run.lanes;
    llvm::SmallVector<int, 64> part;
    for (std::uint32_t i = 0; i < width; ++i) part.push_back(static_cast<int>(at + i));
    Value* stretch = b.CreateShuffleVector(transposed[lane * padded / run.lanes], part);
    Value* index = b.CreateAdd(base, b.getInt64(static_cast<std::uint64_t>(lane * run.stride)));
    store_consecutive(state, access, index, stretch, mask);
  }
}

}  // namespace

std::size_t emit_strided_stores(FunctionState& state, std::span<const ir::Stmt> statements) {
  const Run run = run_of(statements);
  const std::vector<std::vector<Row>> tiles = tiles_of(run);
  const bool pays = std::all_of(tiles.begin(), tiles.end(),
                                [&](const auto& tile) { return tile.size() >= kMinRows || fills_memory(tile, run); });
  if (pays && !overlap(run)) {
    for (const std::vector<Row>& tile : tiles) store_tile(state, tile, run);
  } else {
    for (const Row& row : run.rows) emit_store(state, *row.store);
  }
  return run.rows.size();
}

}  // namespace ferry::codegen
