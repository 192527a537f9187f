#include "host/lower/stage_storage.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/memory/swizzle.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>

namespace ferry::lower {

using namespace ir;
using schedule::ComputeKind;
using schedule::Loop;
using schedule::ScheduledStage;

namespace {

// Small tensors that are computed in another stage's loops are kept on the stack.
constexpr std::int64_t kMaxLocalBytes = 4096;

std::int64_t power_of_two_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

// Returns an extent that holds in every iteration of the loops around it, or nothing when none is found.
std::optional<Expr> widest(const Expr& extent, const std::vector<Loop>& around) {
  std::vector<analysis::Range> ranges;
  for (const Loop& loop : around) ranges.push_back({loop.var, Expr(0), loop.extent});
  const auto bound = analysis::upper_bound(extent, ranges);
  if (!bound) return std::nullopt;
  const Expr result = passes::simplify(*bound);
  for (const Loop& loop : around)
    if (uses_var(result, loop.var)) return std::nullopt;
  return result;
}

// The memory that a GPU kernel allocates itself is either shared or local.
Scope scope_of(const ScheduledStage& stage, bool small, bool in_kernel) {
  if (stage.scope) return *stage.scope;
  if (stage.compute_kind != ComputeKind::attached) return Scope::global;
  if (threads_compute(stage)) return Scope::shared;
  return small || in_kernel ? Scope::local : Scope::global;
}

void expect_swizzles(const Buffer& buffer) {
  const std::string who = "swizzle '" + buffer.name + "': ";
  if (buffer.scope != Scope::shared) throw CompileError(who + "expected a tensor in shared memory (set_scope shared)");
  const std::int64_t* row = buffer.shape.empty() ? nullptr : as_int(buffer.shape.back());
  if (row == nullptr || !passes::can_swizzle(buffer.dtype, *row))
    throw CompileError(who + "expected rows of 32, 64, 128 or more bytes, a power of two, got " +
                       (row == nullptr ? "a size that is known only at run time"
                                       : std::to_string(*row) + " elements of " +
                                             std::to_string(dtype_bytes(buffer.dtype)) + " bytes"));
}

// Pads rows at their end as storage_align asks.
void align_rows(const ScheduledStage& stage, std::vector<Expr>& extents) {
  for (const auto& [axis, alignment] : stage.alignments) {
    Expr& row = extents[axis + 1];
    const Expr factor(alignment.factor), offset(alignment.offset);
    row = passes::simplify(ceil_div(max(row - offset, Expr(0)), factor) * factor + offset);
  }
}

BufferRef make_buffer(const ScheduledStage& stage, const BufferRef& tensor, std::vector<Expr> extents, bool in_kernel) {
  std::shared_ptr<Buffer> buffer = without_definition(*tensor);
  for (Expr& extent : extents)
    if (!passes::can_prove(extent >= Expr(0))) extent = passes::simplify(max(extent, Expr(0)));
  if (stage.layout) {
    std::vector<Expr> shape;
    for (const schedule::LayoutPart& part : *stage.layout)
      shape.push_back(part.modulus != 0 ? Expr(part.modulus)
                                        : passes::simplify(ceil_div(extents[part.axis], Expr(part.divisor))));
    extents = std::move(shape);
  }
  align_rows(stage, extents);
  buffer->shape = std::move(extents);
  std::int64_t elements = 1;
  for (const Expr& extent : buffer->shape) {
    const std::int64_t* size = as_int(extent);
    if (size == nullptr || *size > kMaxLocalBytes || elements > kMaxLocalBytes) {
      elements = kMaxLocalBytes + 1;
      if (size == nullptr && stage.scope == Scope::local)
        throw CompileError("'" + stage.name + "': expected a constant size in the local scope, got one that is known " +
                           "only at run time; compute it at an inner loop or use the global scope");
    } else {
      elements *= std::max<std::int64_t>(*size, 1);
    }
  }
  const bool small = elements * static_cast<std::int64_t>(dtype_bytes(buffer->dtype)) <= kMaxLocalBytes;
  buffer->scope = scope_of(stage, small, in_kernel);
  if (stage.swizzled) expect_swizzles(*buffer);
  buffer->storage.swizzled = stage.swizzled;
  return buffer;
}

}  // namespace

bool threads_compute(const ScheduledStage& stage) {
  const std::vector<std::size_t>& order = stage.loops.order();
  return stage.compute_kind == ComputeKind::attached && std::any_of(order.begin(), order.end(), [&](std::size_t id) {
           return ir::is_thread(stage.loops.loop(id).kind);
         });
}

Storage make_storage(const ScheduledStage& stage, const BufferRef& tensor, const std::vector<RequiredRange>& kept,
                     const Sliding& sliding, const std::vector<Loop>& around) {
  Storage storage;
  std::vector<Expr> extents;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    // If loops overshoot, `min` may be out of the tensor's bounds: then all of it is stored, from 0 on.
    const auto extent = widest(kept[i].extent, around);
    storage.origin.push_back(extent ? kept[i].min : Expr(0));
    extents.push_back(extent ? *extent : stage.axes[i].extent);
    const bool folds = sliding.axis == static_cast<int>(i) && sliding.window != 0;
    if (folds && storage.folds.empty()) storage.folds.resize(kept.size());
    if (!folds) continue;
    storage.folds[i] = power_of_two_from(sliding.window);
    extents[i] = Expr(storage.folds[i]);
  }
  if (stage.layout) storage.layout = &*stage.layout;
  const bool in_kernel = std::any_of(around.begin(), around.end(), [](const Loop& loop) {
    return ir::is_block(loop.kind) || ir::is_thread(loop.kind) || loop.kind == ForKind::vthread;
  });
  storage.buffer = make_buffer(stage, tensor, std::move(extents), in_kernel);
  return storage;
}

}  // namespace ferry::lower
