#include "crosscompile/passes/gpu/copy_async.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/simplify/alignment.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

bool is_copy_size(std::int64_t bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

// Returns the load of a copy from a GPU's memory into a shared buffer that is filled asynchronously; null for any other
// store.
const Load* copied(const Store& store) {
  const auto* load = store.value.as<Load>();
  if (load == nullptr || load->mask.defined() || store.mask.defined()) return nullptr;
  const bool from_memory = load->buffer->scope == Scope::parameter || load->buffer->scope == Scope::global;
  return store.buffer->storage.filled_asynchronously && from_memory ? load : nullptr;
}

class Starter : public Mutator {
 public:
  bool found = false;

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    const auto* store = node.body.as<Store>();
    const std::int64_t* lanes = as_int(node.extent);
    if (node.for_kind != ForKind::vectorized) return Mutator::mutate_node(node, self);
    if (store == nullptr || lanes == nullptr || !is_constant(node.min, 0)) return one_by_one(node, self);
    const Load* load = copied(*store);
    const auto begins = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
      return aligned_begin(simplify(linear_index(buffer, indices)), node.var, *lanes).has_value();
    };
    if (load == nullptr || !begins(*store->buffer, store->indices) || !begins(*load->buffer, load->indices))
      return one_by_one(node, self);
    return start(*store, *load, Substitution{{node.var.get(), Expr(0)}}, *lanes, self);
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const Load* load = copied(node);
    return load == nullptr ? self : start(node, *load, {}, 1, self);
  }

 private:
  // Makes one copy per element; such a loop is unrolled, since copies of single elements have no vector form.
  Stmt one_by_one(const For& node, const Stmt& self) {
    const bool had = std::exchange(found, false);
    const Stmt result = Mutator::mutate_node(node, self);
    const bool has_copies = std::exchange(found, found || had);
    const auto* loop = result.as<For>();
    if (!has_copies || loop == nullptr) return result;
    return For::make(loop->var, loop->min, loop->extent, ForKind::unrolled, loop->body);
  }

  // Returns the statement itself when there is no asynchronous copy of that size.
  Stmt start(const Store& store, const Load& load, const Substitution& first, std::int64_t elements, const Stmt& self) {
    const auto bytes = static_cast<std::int64_t>(dtype_bytes(store.buffer->dtype)) * elements;
    if (!is_copy_size(bytes)) return self;
    found = true;
    const auto place = [&](const BufferRef& buffer, const std::vector<Expr>& indices) {
      std::vector<Expr> at;
      for (const Expr& index : indices) at.push_back(simplify(substitute(index, first)));
      return address_of(buffer, std::move(at));
    };
    return InstructionStmt::make(Instruction::copy_async,
                                 {place(store.buffer, store.indices), place(load.buffer, load.indices), Expr(bytes)},
                                 self);
  }
};

class OrderRemover : public Mutator {
 protected:
  using Mutator::mutate_node;
  Stmt mutate_node(const Evaluate& node, const Stmt& self) override { return orders_copies(node) ? Stmt() : self; }
};

}  // namespace

Function copy_async(Function function, const Target& target) {
  if (!function.body.defined()) return function;
  Starter starter;
  if (target.capabilities.async_copies) function.body = starter.mutate(function.body);
  if (!starter.found) function.body = OrderRemover().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
