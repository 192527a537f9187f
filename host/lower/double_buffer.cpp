#include "host/lower/double_buffer.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lower {

using namespace ir;

namespace {

using Copies = std::unordered_map<const Buffer*, std::int64_t>;

struct Wide {
  BufferRef buffer;  // with an additional first dimension: iteration i uses part i % copies
  std::int64_t copies = 0;
};
using WideBuffers = std::unordered_map<const Buffer*, Wide>;

// Redirects accesses to the parts of one iteration.
class UseParts : public Mutator {
 public:
  UseParts(const WideBuffers& wide, Expr iteration) : wide_(wide), iteration_(std::move(iteration)) {}

 protected:
  Expr mutate_node(const Load& node, const Expr& self) override {
    const Expr load = Mutator::mutate_node(node, self);
    const auto found = wide_.find(node.buffer.get());
    if (found == wide_.end()) return load;
    return Load::make(found->second.buffer, with_part(found->second, load.as<Load>()->indices), load.as<Load>()->mask);
  }
  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const Stmt store = Mutator::mutate_node(node, self);
    const auto found = wide_.find(node.buffer.get());
    if (found == wide_.end()) return store;
    const Store& plain = *store.as<Store>();
    return Store::make(found->second.buffer, with_part(found->second, plain.indices), plain.value, plain.mask);
  }
  using Mutator::mutate_node;

 private:
  // Tensorized nests access a buffer by a single index: the position from its start.
  std::vector<Expr> with_part(const Wide& wide, const std::vector<Expr>& indices) const {
    const Expr part = iteration_ % Expr(wide.copies);
    const std::vector<Expr>& shape = wide.buffer->shape;
    if (indices.size() + 1 != shape.size()) {
      Expr position = part;
      for (std::size_t d = 1; d < shape.size(); ++d) position = position * shape[d];
      const Expr& index = indices[0];
      if (const auto* ramp = index.as<Ramp>())
        return {Ramp::make(ramp->base + position, ramp->stride, ramp->type.lanes)};
      if (index.type().is_vector()) position = Broadcast::make(position, index.type().lanes);
      return {index + position};
    }
    std::vector<Expr> result{part};
    result.insert(result.end(), indices.begin(), indices.end());
    return result;
  }
  const WideBuffers& wide_;
  Expr iteration_;
};

// A loop some of whose buffers are filled ahead.
class Ahead {
 public:
  Ahead(const For& loop, const Copies& copies) : loop_(loop) {
    Stmt rest = loop.body;
    for (const auto* node = rest.as<Allocate>(); node != nullptr; node = rest.as<Allocate>()) {
      const auto found = copies.find(node->buffer.get());
      if (found == copies.end()) {
        kept_.push_back(node->buffer);
      } else {
        widen(node->buffer, found->second);
      }
      rest = node->body;
    }
    const auto* block = rest.as<Block>();
    const std::vector<Stmt> steps = block != nullptr ? block->body : std::vector<Stmt>{rest};
    for (const Stmt& step : steps) {
      const std::vector<BufferRef> stored = stored_buffers(step);
      if (std::any_of(stored.begin(), stored.end(), [&](const BufferRef& one) { return wide_.contains(one.get()); }))
        continue;
      users_.push_back(step);
      for (const BufferRef& buffer : stored) late_.insert(buffer.get());
    }
    for (const Stmt& step : steps) add_maker(step);
  }

  Stmt build() const {
    std::vector<Stmt> before, inside;
    std::int64_t farthest = 0, nearest = std::numeric_limits<std::int64_t>::max();
    for (const Maker& maker : makers_) {
      farthest = std::max(farthest, maker.distance);
      nearest = std::min(nearest, maker.distance);
    }
    // Each iteration commits the copies that it starts as one group; the prologue commits one group for each iteration
    // before the first.
    const bool is_late = std::any_of(wide_.begin(), wide_.end(),
                                     [](const auto& one) { return one.second.buffer->storage.filled_asynchronously; });
    for (std::int64_t iteration = -farthest; iteration < 0; ++iteration) {
      for (const Maker& maker : makers_)
        if (iteration + maker.distance >= 0) before.push_back(make_part(maker, Expr(iteration + maker.distance), true));
      if (is_late) before.push_back(make_commit_copies());
    }
    if (is_late) inside.push_back(make_wait_copies(nearest - 1));
    for (const Maker& maker : makers_) inside.push_back(make_part(maker, loop_.var + maker.distance, false));
    if (is_late) inside.push_back(make_commit_copies());
    for (const Stmt& user : users_) inside.push_back(UseParts(wide_, loop_.var).mutate(user));
    before.push_back(
        For::make(loop_.var, loop_.min, loop_.extent, loop_.for_kind, allocate(kept_, Block::make(std::move(inside)))));
    return allocate(ahead_, Block::make(std::move(before)));
  }

 private:
  struct Maker {
    Stmt step;              // all steps that are computed at this distance
    std::int64_t distance;  // iterations
  };

  static Stmt allocate(const std::vector<BufferRef>& buffers, Stmt body) {
    for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer)
      body = Allocate::make(*buffer, std::move(body));
    return body;
  }

  void widen(const BufferRef& buffer, std::int64_t copies) {
    auto wide = std::make_shared<Buffer>(*buffer);
    wide->shape.insert(wide->shape.begin(), Expr(copies));
    wide->storage.filled_asynchronously = wide->scope == Scope::shared;
    ahead_.push_back(wide);
    wide_[buffer.get()] = {std::move(wide), copies};
  }

  // Adds a step that fills the buffers; does nothing with one that uses them.
  void add_maker(const Stmt& step) {
    std::int64_t copies = 0;
    std::unordered_set<const Buffer*> filled;
    std::string name;
    for (const BufferRef& buffer : stored_buffers(step)) {
      const auto found = wide_.find(buffer.get());
      if (found == wide_.end()) continue;
      name = buffer->name;
      filled.insert(buffer.get());
      copies = copies == 0 ? found->second.copies : std::min(copies, found->second.copies);
    }
    if (filled.empty()) return;
    for (const BufferRef& used : used_buffers(step)) {
      const bool is_kept = std::find(kept_.begin(), kept_.end(), used) != kept_.end();
      if (is_kept || late_.contains(used.get()) || (wide_.contains(used.get()) && !filled.contains(used.get())))
        throw CompileError("double_buffer '" + name +
                           "': expected a stage that can be computed an iteration ahead, got one that needs '" +
                           used->name + "', which each iteration computes for itself");
    }
    const auto same =
        std::find_if(makers_.begin(), makers_.end(), [&](const Maker& maker) { return maker.distance == copies - 1; });
    if (same == makers_.end()) {
      makers_.push_back({step, copies - 1});
    } else {
      same->step = Block::make({same->step, step});
    }
  }

  // Computes the part of iteration `at`, if that iteration exists.
  Stmt make_part(const Maker& maker, const Expr& at, bool is_copy) const {
    const Stmt step = UseParts(wide_, loop_.var).mutate(maker.step);
    const Substitution values{{loop_.var.get(), at}};
    Stmt part = is_copy ? passes::fresh_copy(step, values) : substitute(step, values);
    const Expr exists = passes::simplify(at < loop_.extent);
    return is_constant(exists, 1) ? part : If::make(exists, std::move(part));
  }

  const For& loop_;
  WideBuffers wide_;
  std::vector<BufferRef> kept_, ahead_;
  std::vector<Maker> makers_;
  std::vector<Stmt> users_;
  std::unordered_set<const Buffer*> late_;  // written by users, inside this loop or kept around it
};

class DoubleBuffers : public Mutator {
 public:
  explicit DoubleBuffers(const Copies& copies) : copies_(copies) {}

 protected:
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Stmt loop = Mutator::mutate_node(node, self);
    const For& result = *loop.as<For>();
    for (const auto* inner = result.body.as<Allocate>(); inner != nullptr; inner = inner->body.as<Allocate>()) {
      if (!copies_.contains(inner->buffer.get())) continue;
      const bool in_order = result.for_kind == ForKind::serial || result.for_kind == ForKind::unrolled;
      if (!in_order)
        throw CompileError("double_buffer '" + inner->buffer->name + "': expected a serial loop, got the " +
                           std::string(kind_name(result.for_kind)) + " loop '" + result.var.as<Var>()->name +
                           "', whose iterations have no order");
      return Ahead(result, copies_).build();
    }
    return loop;
  }
  using Mutator::mutate_node;

 private:
  const Copies& copies_;
};

}  // namespace

Stmt double_buffers(const Nests& nests, const Stmt& body) {
  Copies copies;
  for (const Nest& nest : nests) {
    if (nest.stage->copies == 1) continue;
    if (nest.stage->compute_kind != schedule::ComputeKind::attached || nest.stage->store_at)
      throw CompileError("double_buffer '" + nest.name() +
                         "': expected a stage that is computed at a loop and kept for one iteration of it");
    for (const Storage& storage : nest.storage) copies[storage.buffer.get()] = nest.stage->copies;
  }
  return copies.empty() ? body : DoubleBuffers(copies).mutate(body);
}

}  // namespace ferry::lower
