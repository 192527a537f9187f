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

struct MultiBuffered {
  BufferRef buffer;  // with an additional first dimension: iteration i uses slot i % copies
  std::int64_t copies = 0;
};
using MultiBuffers = std::unordered_map<const Buffer*, MultiBuffered>;

// Redirects accesses to the slot of one iteration.
class SelectSlots : public Mutator {
 public:
  SelectSlots(const MultiBuffers& buffered, Expr iteration) : buffered_(buffered), iteration_(std::move(iteration)) {}

 protected:
  Expr mutate_node(const Load& node, const Expr& self) override {
    const Expr load = Mutator::mutate_node(node, self);
    const auto found = buffered_.find(node.buffer.get());
    if (found == buffered_.end()) return load;
    return Load::make(found->second.buffer, select_slot(found->second, load.as<Load>()->indices),
                      load.as<Load>()->mask);
  }
  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const Stmt store = Mutator::mutate_node(node, self);
    const auto found = buffered_.find(node.buffer.get());
    if (found == buffered_.end()) return store;
    const Store& plain = *store.as<Store>();
    return Store::make(found->second.buffer, select_slot(found->second, plain.indices), plain.value, plain.mask);
  }
  using Mutator::mutate_node;

 private:
  // Tensorized nests access a buffer by a single index: the position from its start.
  std::vector<Expr> select_slot(const MultiBuffered& buffered, const std::vector<Expr>& indices) const {
    const Expr slot = iteration_ % Expr(buffered.copies);
    const std::vector<Expr>& shape = buffered.buffer->shape;
    if (indices.size() + 1 != shape.size()) {
      Expr position = slot;
      for (std::size_t d = 1; d < shape.size(); ++d) position = position * shape[d];
      const Expr& index = indices[0];
      if (const auto* ramp = index.as<Ramp>())
        return {Ramp::make(ramp->base + position, ramp->stride, ramp->type.lanes)};
      if (index.type().is_vector()) position = Broadcast::make(position, index.type().lanes);
      return {index + position};
    }
    std::vector<Expr> result{slot};
    result.insert(result.end(), indices.begin(), indices.end());
    return result;
  }
  const MultiBuffers& buffered_;
  Expr iteration_;
};

// A software-pipelined loop: the producers of multi-buffered stages run some iterations before their consumers.
class PipelinedLoop {
 public:
  PipelinedLoop(const For& loop, const Copies& copies) : loop_(loop) {
    Stmt rest = loop.body;
    for (const auto* node = rest.as<Allocate>(); node != nullptr; node = rest.as<Allocate>()) {
      const auto found = copies.find(node->buffer.get());
      if (found == copies.end()) {
        kept_.push_back(node->buffer);
      } else {
        add_slots(node->buffer, found->second);
      }
      rest = node->body;
    }
    const auto* block = rest.as<Block>();
    const std::vector<Stmt> steps = block != nullptr ? block->body : std::vector<Stmt>{rest};
    for (const Stmt& step : steps) {
      const std::vector<BufferRef> stored = stored_buffers(step);
      if (std::any_of(stored.begin(), stored.end(),
                      [&](const BufferRef& one) { return buffered_.contains(one.get()); }))
        continue;
      consumers_.push_back(step);
      for (const BufferRef& buffer : stored) of_consumers_.insert(buffer.get());
    }
    for (const Stmt& step : steps) add_producer(step);
  }

  Stmt build() const {
    std::vector<Stmt> before, inside;
    std::int64_t farthest = 0, nearest = std::numeric_limits<std::int64_t>::max();
    for (const Producer& producer : producers_) {
      farthest = std::max(farthest, producer.distance);
      nearest = std::min(nearest, producer.distance);
    }
    // Each iteration commits the copies that it starts as one group; the prologue commits one group for each iteration
    // before the first.
    const bool is_asynchronous = std::any_of(buffered_.begin(), buffered_.end(), [](const auto& one) {
      return one.second.buffer->storage.filled_asynchronously;
    });
    for (std::int64_t iteration = -farthest; iteration < 0; ++iteration) {
      for (const Producer& producer : producers_)
        if (iteration + producer.distance >= 0)
          before.push_back(make_producer(producer, Expr(iteration + producer.distance), true));
      if (is_asynchronous) before.push_back(make_commit_copies());
    }
    if (is_asynchronous) inside.push_back(make_wait_copies(nearest - 1));
    for (const Producer& producer : producers_)
      inside.push_back(make_producer(producer, loop_.var + producer.distance, false));
    if (is_asynchronous) inside.push_back(make_commit_copies());
    for (const Stmt& consumer : consumers_) inside.push_back(SelectSlots(buffered_, loop_.var).mutate(consumer));
    before.push_back(
        For::make(loop_.var, loop_.min, loop_.extent, loop_.for_kind, allocate(kept_, Block::make(std::move(inside)))));
    return allocate(allocated_, Block::make(std::move(before)));
  }

 private:
  struct Producer {
    Stmt step;              // all steps that are computed at this distance
    std::int64_t distance;  // iterations
  };

  static Stmt allocate(const std::vector<BufferRef>& buffers, Stmt body) {
    for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer)
      body = Allocate::make(*buffer, std::move(body));
    return body;
  }

  void add_slots(const BufferRef& buffer, std::int64_t copies) {
    auto buffered = std::make_shared<Buffer>(*buffer);
    buffered->shape.insert(buffered->shape.begin(), Expr(copies));
    buffered->storage.filled_asynchronously = buffered->scope == Scope::shared;
    allocated_.push_back(buffered);
    buffered_[buffer.get()] = {std::move(buffered), copies};
  }

  // Adds a step that fills the buffers; does nothing with one that uses them.
  void add_producer(const Stmt& step) {
    std::int64_t copies = 0;
    std::unordered_set<const Buffer*> filled;
    std::string name;
    for (const BufferRef& buffer : stored_buffers(step)) {
      const auto found = buffered_.find(buffer.get());
      if (found == buffered_.end()) continue;
      name = buffer->name;
      filled.insert(buffer.get());
      copies = copies == 0 ? found->second.copies : std::min(copies, found->second.copies);
    }
    if (filled.empty()) return;
    for (const BufferRef& used : used_buffers(step)) {
      const bool is_kept = std::find(kept_.begin(), kept_.end(), used) != kept_.end();
      if (is_kept || of_consumers_.contains(used.get()) ||
          (buffered_.contains(used.get()) && !filled.contains(used.get())))
        throw CompileError("double_buffer '" + name +
                           "': expected a stage that can be computed an iteration ahead, got one that needs '" +
                           used->name + "', which each iteration computes for itself");
    }
    const auto same = std::find_if(producers_.begin(), producers_.end(),
                                   [&](const Producer& producer) { return producer.distance == copies - 1; });
    if (same == producers_.end()) {
      producers_.push_back({step, copies - 1});
    } else {
      same->step = Block::make({same->step, step});
    }
  }

  // Fills the slot of iteration `at`, if that iteration exists.
  Stmt make_producer(const Producer& producer, const Expr& at, bool is_copy) const {
    const Stmt step = SelectSlots(buffered_, loop_.var).mutate(producer.step);
    const Substitution values{{loop_.var.get(), at}};
    Stmt part = is_copy ? passes::fresh_copy(step, values) : substitute(step, values);
    const Expr exists = passes::simplify(at < loop_.extent);
    return is_constant(exists, 1) ? part : If::make(exists, std::move(part));
  }

  const For& loop_;
  MultiBuffers buffered_;
  std::vector<BufferRef> kept_, allocated_;
  std::vector<Producer> producers_;
  std::vector<Stmt> consumers_;
  std::unordered_set<const Buffer*> of_consumers_;  // written by consumers, inside this loop or kept around it
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
      return PipelinedLoop(result, copies_).build();
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
