#include "crosscompile/passes/loops/eliminate_dead_stores.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/mutator.h"

#include <unordered_set>

namespace ferry::passes {
namespace {

using namespace ir;

class Dropper : public Mutator {
 public:
  explicit Dropper(const std::unordered_set<const Buffer*>& read) : read_(read) {}
  bool changed = false;

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    if (read_.contains(node.buffer.get())) return Mutator::mutate_node(node, self);
    changed = true;
    unread_.insert(node.buffer.get());
    return mutate(node.body);
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    return unread_.contains(node.buffer.get()) ? Stmt() : self;
  }

 private:
  const std::unordered_set<const Buffer*>& read_;
  std::unordered_set<const Buffer*> unread_;
};

}  // namespace

Function eliminate_dead_stores(Function function) {
  // Repeats until nothing changes: a store that is removed no longer reads its operands either.
  while (function.body.defined()) {
    const std::unordered_set<const Buffer*> read = analysis::buffers_read(function.body);
    Dropper dropper(read);
    Stmt body = dropper.mutate(function.body);
    if (!dropper.changed) break;
    function.body = std::move(body);
  }
  return function;
}

}  // namespace ferry::passes
