#include "crosscompile/cost/block.h"

#include "crosscompile/analysis/loads.h"

#include <algorithm>

namespace ferry::cost {

namespace {

class Uses {
 public:
  Uses(const FunctionNest& function, BufferUses& uses) : function_(function), uses_(uses) {}

  // Returns the buffers that are stored to.
  std::unordered_set<const ir::Buffer*> add(const LoopNest& nest) {
    std::unordered_set<const ir::Buffer*> stored;
    for (const Step& step : nest.steps) {
      if (step.store != nullptr) {
        stored.insert(step.store->buffer.get());
        note(*step.store->buffer, step.store->indices, step);
      }
      analysis::for_each_load(step.value, [&](const ir::Load& load) { note(*load.buffer, load.indices, step); });
    }
    for (const auto& inner : nest.inner) stored.merge(add(*inner));
    uses_.stored[&nest] = stored;
    return stored;
  }

  void end() {
    for (const ir::Buffer* buffer : in_memory_) uses_.in_registers.erase(buffer);
  }

 private:
  void note(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, const Step& step) {
    if (buffer.scope != ir::Scope::local) return;
    uses_.in_registers.insert(&buffer);
    for (const ir::Expr& index : indices) {
      const LinearIndex linear = linear_index(index, function_.variables);
      const bool is_constant = !linear.reads_memory && std::ranges::all_of(linear.terms, [&](const LinearTerm& term) {
        return std::ranges::any_of(step.replicas, [&](const Replica& replica) { return replica.var == term.var; });
      });
      if (!is_constant) in_memory_.insert(&buffer);
    }
  }

  const FunctionNest& function_;
  BufferUses& uses_;
  std::unordered_set<const ir::Buffer*> in_memory_;
};

}  // namespace

BufferUses uses_of(const FunctionNest& nest) {
  BufferUses uses;
  Uses walk(nest, uses);
  walk.add(nest.body);
  walk.end();
  return uses;
}

}  // namespace ferry::cost
