// Loads, stores and allocations.
#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/interpreter_code.h"

#include <limits>
#include <utility>

namespace ferry::ir::interp {
namespace {

constexpr std::int64_t kMasked = std::numeric_limits<std::int64_t>::min();

Value read(const BoundBuffer& bound, std::int64_t position) {
  Value value;
  const std::byte* from = bound.data + position * bound.bytes;
  switch (bound.bytes) {
    case 1: std::memcpy(&value.bits, from, 1); break;
    case 2: std::memcpy(&value.bits, from, 2); break;
    case 4: std::memcpy(&value.bits, from, 4); break;
    default: std::memcpy(&value.bits, from, 8); break;
  }
  return value;
}

void write(const BoundBuffer& bound, std::int64_t position, Value value) {
  std::byte* to = bound.data + position * bound.bytes;
  switch (bound.bytes) {
    case 1: std::memcpy(to, &value.bits, 1); break;
    case 2: std::memcpy(to, &value.bits, 2); break;
    case 4: std::memcpy(to, &value.bits, 4); break;
    default: std::memcpy(to, &value.bits, 8); break;
  }
}

std::vector<Operand> compile_operands(const std::vector<Expr>& exprs, Layout& layout) {
  std::vector<Operand> operands;
  for (const Expr& expr : exprs) operands.emplace_back(compile(expr, layout));
  return operands;
}

// Resolves indices to the position of an element, with bounds checks.
class Access {
 public:
  Access(const BufferRef& buffer, const std::vector<Expr>& indices, const Expr& mask, Layout& layout)
      : slot_(layout.buffer(*buffer)),
        flat_(indices.size() != buffer->shape.size() || (layout.flat && indices.size() == 1)),
        indices_(compile_operands(indices, layout)),
        mask_(mask.defined() ? compile(mask, layout) : nullptr) {}

  std::size_t slot() const { return slot_; }
  BoundBuffer& bound(Frame& frame) const { return frame.buffers[slot_]; }

  // Returns kMasked when the mask disables this lane.
  std::int64_t position(Frame& frame, const BoundBuffer& bound, std::uint32_t lane) const {
    if (mask_ != nullptr && !is_true(mask_->eval(frame, lane))) return kMasked;
    if (flat_) {
      const std::int64_t position = index_of(indices_[0].eval(frame, lane));
      if (position < 0 || position >= bound.count) fail_position(bound, position);
      return position;
    }
    std::int64_t position = 0;
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      const std::int64_t index = index_of(indices_[d].eval(frame, lane));
      if (index < 0 || index >= bound.shape[d]) fail(frame, bound, lane, d);
      position += index * bound.strides[d];
    }
    return position;
  }

 private:
  [[noreturn]] void fail(Frame& frame, const BoundBuffer& bound, std::uint32_t lane, std::size_t dimension) const {
    std::vector<std::int64_t> values;
    for (const Operand& index : indices_) values.push_back(index_of(index.eval(frame, lane)));
    fail_index(bound, values, dimension);
  }

  std::size_t slot_;
  bool flat_;
  std::vector<Operand> indices_;
  CodePtr mask_;
};

struct LoadCode final : Code {
  Access access;
  LoadCode(const Load& node, Layout& layout) : access(node.buffer, node.indices, node.mask, layout) {}

  Value eval(Frame& frame, std::uint32_t lane) const override {
    BoundBuffer& bound = access.bound(frame);
    const std::int64_t position = access.position(frame, bound, lane);
    if (position == kMasked) return {};
    note_read(bound, position, frame.clock, frame.workspaces);
    return read(bound, position);
  }
};

struct StoreAction final : Action {
  Access access;
  Operand value;
  std::uint32_t lanes;
  StoreAction(const Store& node, Layout& layout)
      : access(node.buffer, node.indices, node.mask, layout),
        value(compile(node.value, layout)),
        lanes(node.value.type().lanes) {}

  std::int32_t run(Frame& frame) const override {
    BoundBuffer& bound = access.bound(frame);
    if (lanes == 1) {
      const std::int64_t position = access.position(frame, bound, 0);
      const Value stored = value.eval(frame, 0);
      if (position != kMasked) put(frame, bound, position, stored);
      return 0;
    }
    // All lanes are computed before the first is written.
    frame.positions.resize(lanes);
    frame.values.resize(lanes);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      frame.positions[lane] = access.position(frame, bound, lane);
      frame.values[lane] = value.eval(frame, lane);
    }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (frame.positions[lane] != kMasked) put(frame, bound, frame.positions[lane], frame.values[lane]);
    }
    return 0;
  }

 private:
  void put(Frame& frame, BoundBuffer& bound, std::int64_t position, Value stored) const {
    note_write(bound, position, frame.clock, frame.workspaces);
    if (!frame.async_stores.is_starting) return write(bound, position, stored);
    note_start(bound, position);
    frame.async_stores.open.push_back({access.slot(), position, stored});
  }
};

// Runs a copy whose stores stay in flight until they are waited for.
struct AsyncCopyAction final : Action {
  ActionPtr copy;
  std::int32_t run(Frame& frame) const override {
    frame.async_stores.is_starting = true;
    const std::int32_t result = copy->run(frame);
    frame.async_stores.is_starting = false;
    return result;
  }
};

struct CommitAction final : Action {
  std::int32_t run(Frame& frame) const override {
    frame.async_stores.groups.push_back(std::exchange(frame.async_stores.open, {}));
    return 0;
  }
};

struct WaitAction final : Action {
  std::size_t groups_left = 0;
  std::int32_t run(Frame& frame) const override {
    while (frame.async_stores.groups.size() > groups_left) {
      for (const AsyncStore& store : frame.async_stores.groups.front()) {
        BoundBuffer& bound = frame.buffers[store.buffer];
        note_write(bound, store.position, frame.clock, frame.workspaces);
        write(bound, store.position, store.value);
      }
      frame.async_stores.groups.erase(frame.async_stores.groups.begin());
    }
    return 0;
  }
};

struct AllocateAction final : Action {
  std::size_t slot;
  ShapeCode shape;
  CodePtr offset;
  WorkspaceKind workspace;
  ActionPtr body;
  AllocateAction(const Allocate& node, Layout& layout)
      : slot(layout.buffer(*node.buffer)),
        shape(*node.buffer, layout),
        offset(node.offset.defined() ? compile(node.offset, layout) : nullptr),
        workspace(node.workspace),
        body(compile(node.body, layout)) {}

  std::int32_t run(Frame& frame) const override {
    BoundBuffer& bound = frame.buffers[slot];
    shape.eval(frame, bound);
    if (offset == nullptr) {
      allocate(bound, frame.clock);
    } else {
      place(bound, frame.clock, frame.workspaces, workspace, index_of(offset->eval(frame, 0)));
    }
    return body->run(frame);
  }
};

}  // namespace

ShapeCode::ShapeCode(const Buffer& buffer, Layout& layout)
    : buffer_(buffer), shape_(compile_all(buffer.shape, layout)), strides_(compile_all(buffer.strides, layout)) {}

void ShapeCode::eval(Frame& frame, BoundBuffer& bound) const {
  bound.buffer = &buffer_;
  bound.bytes = static_cast<std::uint32_t>(dtype_bytes(buffer_.dtype));
  bound.shape.clear();
  bound.strides.clear();
  for (const CodePtr& extent : shape_) bound.shape.push_back(index_of(extent->eval(frame, 0)));
  for (const CodePtr& stride : strides_) bound.strides.push_back(index_of(stride->eval(frame, 0)));
  finish_shape(bound, strides_.empty());
}

CodePtr compile_load(const Load& node, Layout& layout) { return std::make_unique<LoadCode>(node, layout); }
ActionPtr compile_store(const Store& node, Layout& layout) { return std::make_unique<StoreAction>(node, layout); }
ActionPtr compile_allocate(const Allocate& node, Layout& layout) {
  return std::make_unique<AllocateAction>(node, layout);
}

ActionPtr compile_async_copy(const InstructionStmt& node, Layout& layout) {
  auto action = std::make_unique<AsyncCopyAction>();
  action->copy = compile(node.definition, layout);
  return action;
}

ActionPtr compile_copy_order(const Evaluate& node) {
  const std::optional<std::int64_t> left = groups_left(node);
  if (!left) return std::make_unique<CommitAction>();
  auto action = std::make_unique<WaitAction>();
  action->groups_left = static_cast<std::size_t>(*left);
  return action;
}

}  // namespace ferry::ir::interp
