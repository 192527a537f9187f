#include "crosscompile/passes/memory/plan_workspace.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/memory/liveness.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

// Moves local buffers that do not fit on the stack to the workspace.
class StackRelief : public Mutator {
 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    if (node.buffer->scope == Scope::local && !fits(*node.buffer)) {
      auto moved = std::make_shared<Buffer>(*node.buffer);
      moved->scope = Scope::global;
      moved_[node.buffer.get()] = moved;
    }
    return Mutator::mutate_node(node, self);
  }

  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = moved_.find(buffer.get());
    return found == moved_.end() ? buffer : found->second;
  }

 private:
  static bool fits(const Buffer& buffer) {
    auto bytes = static_cast<std::int64_t>(dtype_bytes(buffer.dtype));
    for (const Expr& extent : buffer.shape) {
      const Expr simple = simplify(extent);
      const std::int64_t* known = as_int(simple);
      if (known == nullptr || __builtin_mul_overflow(bytes, *known, &bytes) || bytes > kMaxStackBytes) return false;
    }
    return true;
  }

  std::unordered_map<const Buffer*, BufferRef> moved_;
};

// The buffers of one block. Those of constant size come first, each at the lowest offset that is free during its
// lifetime. They are followed by slots of symbolic size, each shared by buffers whose lifetimes do not overlap.
class WorkspaceBlock {
 public:
  WorkspaceBlock(std::vector<Expr> facts, std::int64_t alignment) : facts_(std::move(facts)), alignment_(alignment) {}

  void add(const LiveBuffer& buffer) {
    if (const std::int64_t* bytes = as_int(buffer.bytes)) {
      place(buffer, aligned(*bytes));
    } else {
      share(buffer);
    }
  }

  // Sets the offsets by allocation and returns the total size; nothing when there are no buffers.
  Expr finish(std::unordered_map<const Allocate*, Expr>& offsets) const {
    if (fixed_.empty() && slots_.empty()) return {};
    std::int64_t end = 0;
    for (const Fixed& fixed : fixed_) {
      offsets[fixed.buffer->allocation] = Expr(fixed.offset);
      end = std::max(end, fixed.offset + fixed.bytes);
    }
    Expr offset = end;
    for (const Slot& slot : slots_) {
      for (const LiveBuffer* buffer : slot.buffers) offsets[buffer->allocation] = offset;
      offset = simplify(offset + aligned(slot.bytes), facts_);
    }
    return offset;
  }

 private:
  struct Fixed {
    const LiveBuffer* buffer;
    std::int64_t offset, bytes;
  };
  struct Slot {
    Expr bytes;
    std::vector<const LiveBuffer*> buffers;
  };

  template <class Bytes>
  Bytes aligned(const Bytes& bytes) const {
    return (bytes + (alignment_ - 1)) / alignment_ * alignment_;
  }

  void place(const LiveBuffer& buffer, std::int64_t bytes) {
    std::vector<Fixed> around;
    for (const Fixed& other : fixed_) {
      if (overlap(*other.buffer, buffer)) around.push_back(other);
    }
    std::sort(around.begin(), around.end(), [](const Fixed& a, const Fixed& b) { return a.offset < b.offset; });
    std::int64_t offset = 0;
    for (const Fixed& other : around) {
      if (offset + bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.bytes);
    }
    fixed_.push_back({&buffer, offset, bytes});
  }

  void share(const LiveBuffer& buffer) {
    Slot* best = nullptr;
    for (Slot& slot : slots_) {
      const bool free = std::none_of(slot.buffers.begin(), slot.buffers.end(),
                                     [&](const LiveBuffer* other) { return overlap(*other, buffer); });
      if (!free) continue;
      const bool exact = can_prove(slot.bytes == buffer.bytes, facts_);
      if (best == nullptr || exact) best = &slot;
      if (exact) break;
    }
    if (best == nullptr) {
      slots_.push_back({buffer.bytes, {&buffer}});
      return;
    }
    best->bytes = simplify(max(best->bytes, buffer.bytes), facts_);
    best->buffers.push_back(&buffer);
  }

  std::vector<Expr> facts_;
  std::int64_t alignment_;
  std::vector<Fixed> fixed_;
  std::vector<Slot> slots_;
};

struct Assignment {
  Expr offset;
  ir::WorkspaceKind workspace;
};

class ApplyAssignments : public Mutator {
 public:
  explicit ApplyAssignments(std::unordered_map<const Allocate*, Assignment> assignments)
      : assignments_(std::move(assignments)) {}

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    const auto found = assignments_.find(&node);
    if (found == assignments_.end()) return Mutator::mutate_node(node, self);
    Stmt body = mutate(node.body);
    return body ? Allocate::make(node.buffer, std::move(body), found->second.offset, found->second.workspace) : Stmt{};
  }

 private:
  std::unordered_map<const Allocate*, Assignment> assignments_;
};

}  // namespace

Function plan_workspace(Function function, std::int64_t alignment) {
  function.body = StackRelief().mutate(function.body);
  const std::vector<LiveBuffer> buffers = find_live_buffers(function);
  std::vector<Expr> facts;
  for (const Expr& symbol : function.symbols) facts.push_back(symbol >= 0);
  WorkspaceBlock call(facts, alignment);
  WorkspaceBlock thread(facts, alignment);
  // Placing large buffers first leaves smaller gaps.
  std::vector<const LiveBuffer*> order;
  for (const LiveBuffer& buffer : buffers) order.push_back(&buffer);
  std::stable_sort(order.begin(), order.end(), [](const LiveBuffer* a, const LiveBuffer* b) {
    const std::int64_t* left = as_int(a->bytes);
    const std::int64_t* right = as_int(b->bytes);
    return left != nullptr && right != nullptr ? *left > *right : left != nullptr && right == nullptr;
  });
  for (const LiveBuffer* buffer : order) (buffer->in_parallel_loop ? thread : call).add(*buffer);

  std::unordered_map<const Allocate*, Assignment> assignments;
  const auto collect = [&](const WorkspaceBlock& block, ir::WorkspaceKind workspace) {
    std::unordered_map<const Allocate*, Expr> offsets;
    Expr bytes = block.finish(offsets);
    for (auto& [allocation, offset] : offsets) assignments[allocation] = {offset, workspace};
    return bytes;
  };
  function.call_workspace = collect(call, ir::WorkspaceKind::call);
  function.thread_workspace = collect(thread, ir::WorkspaceKind::thread);
  function.body = ApplyAssignments(std::move(assignments)).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
