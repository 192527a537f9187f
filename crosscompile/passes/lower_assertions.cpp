#include "crosscompile/passes/lower_assertions.h"

#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/memory/plan_workspace.h"
#include "ferry/operators.h"

#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

// Tensors of programs cannot have this name.
BufferRef make_result() {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = "check.failed";
  buffer->dtype = DType::i32;
  buffer->shape = {Expr(1)};
  buffer->scope = Scope::global;
  return buffer;
}

class Reporter {
 public:
  bool found = false;

  // Rewrites the function's statements in order.
  Stmt run(const Stmt& stmt) {
    if (const auto* block = stmt.as<Block>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : block->body) parts.push_back(run(part));
      return Block::make(std::move(parts));
    }
    if (const auto* allocate = stmt.as<Allocate>(); allocate != nullptr && allocate->offset.defined()) {
      return Allocate::make(allocate->buffer, run(allocate->body), allocate->offset + kGpuWorkspaceAlignment,
                            allocate->workspace);
    }
    if (const auto* let = stmt.as<LetStmt>()) return LetStmt::make(let->var, let->value, run(let->body));
    if (const auto* check = stmt.as<Assert>()) return report(*check);
    return found ? guarded(stmt) : stmt;
  }

  Stmt with_result(Stmt body) const { return Allocate::make(result_, std::move(body), Expr(0)); }

 private:
  static Expr number(std::int64_t value) { return constant(Type(DType::i32), value); }

  Stmt report(const Assert& check) {
    Stmt store = Store::make(result_, {Expr(0)},
                             Select::make(check.condition, number(0), number(std::int64_t{check.message} + 1)));
    return std::exchange(found, true) ? unless_failed(std::move(store)) : store;
  }

  Stmt unless_failed(Stmt body) const { return If::make(Load::make(result_, {Expr(0)}) == number(0), std::move(body)); }

  // Puts the test inside the loops over blocks and threads and the allocations of shared memory, which must enclose the
  // whole kernel.
  Stmt guarded(const Stmt& kernel) const {
    if (const auto* loop = kernel.as<For>(); loop != nullptr && (is_block(loop->for_kind) || is_thread(loop->for_kind)))
      return For::make(loop->var, loop->min, loop->extent, loop->for_kind, guarded(loop->body));
    if (const auto* allocate = kernel.as<Allocate>(); allocate != nullptr && allocate->buffer->scope == Scope::shared)
      return Allocate::make(allocate->buffer, guarded(allocate->body), allocate->offset, allocate->workspace);
    return unless_failed(kernel);
  }

  BufferRef result_ = make_result();
};

}  // namespace

Function lower_assertions(Function function) {
  if (function.messages.empty()) return function;
  Reporter reporter;
  Stmt body = reporter.run(function.body);
  if (!reporter.found) {
    function.messages.clear();
    return function;
  }
  function.body = reporter.with_result(std::move(body));
  const Expr others = function.call_workspace.defined() ? function.call_workspace : Expr(0);
  function.call_workspace = others + kGpuWorkspaceAlignment;
  return function;
}

}  // namespace ferry::passes
