#include "crosscompile/passes/gpu/extract_kernels.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/symbol.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_map>

namespace ferry::passes {
namespace {

using namespace ir;

std::string symbol_text(const Function& function) {
  std::string text;
  for (const char c : function_symbol(function)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    text += fits ? c : '_';
  }
  return text;
}

// Rejects statements that kernels do not support.
class Checker : public Visitor {
 protected:
  using Visitor::visit_node;
  void visit_node(const Allocate& node) override {
    if (node.offset.defined())
      throw CompileError("'" + node.buffer->name +
                         "': expected memory of a block or a thread inside a kernel (shared, local or register), got "
                         "global");
    Visitor::visit_node(node);
  }
  void visit_node(const Assert&) override {
    throw CompileError("expected a kernel that needs no checks while it runs, which a GPU cannot report");
  }
};

class Splitter {
 public:
  explicit Splitter(const Function& function) : function_(function) {}
  std::vector<Launch> launches;

  void run(const Stmt& stmt) {
    if (const auto* block = stmt.as<Block>()) {
      for (const Stmt& part : block->body) run(part);
    } else if (const auto* allocate = stmt.as<Allocate>(); allocate != nullptr && allocate->offset.defined()) {
      places_[allocate->buffer.get()] = allocate->offset;
      run(allocate->body);
    } else if (const auto* let = stmt.as<LetStmt>()) {
      run(substitute(let->body, Substitution{{let->var.get(), let->value}}));
    } else {
      add(stmt);
    }
  }

 private:
  void add(const Stmt& kernel) {
    Launch launch;
    launch.symbol = symbol_text(function_) + (launches.empty() ? "" : "_" + std::to_string(launches.size()));
    launch.body = kernel;
    while (peel(launch)) {
    }
    if (has_gpu_loops(launch.body))
      throw CompileError("'" + function_.name + "': expected loops over blocks and threads around all of a kernel");
    find_parameters(launch);
    launches.push_back(std::move(launch));
  }

  static bool peel(Launch& launch) {
    if (const auto* loop = launch.body.as<For>();
        loop != nullptr && (is_block(loop->for_kind) || is_thread(loop->for_kind))) {
      auto& axes = is_block(loop->for_kind) ? launch.grid : launch.block;
      axes.at(gpu_axis(loop->for_kind)) = {loop->var, simplify(loop->extent)};
      launch.body = Stmt(loop->body);
      return true;
    }
    const auto* allocate = launch.body.as<Allocate>();
    if (allocate == nullptr || allocate->buffer->scope != Scope::shared) return false;
    launch.shared.push_back(shared_array(allocate->buffer, launch.shared_bytes));
    launch.shared_bytes += launch.shared.back().bytes;
    launch.body = Stmt(allocate->body);
    return true;
  }

  void find_parameters(Launch& launch) const {
    Checker().visit(launch.body);
    for (const BufferRef& buffer : used_buffers(launch.body)) {
      const auto is_it = [&](const SharedArray& array) { return array.buffer == buffer; };
      if (std::any_of(launch.shared.begin(), launch.shared.end(), is_it)) continue;
      const auto place = places_.find(buffer.get());
      launch.parameters.push_back({buffer, place == places_.end() ? Expr() : place->second, {}, is_input(buffer)});
    }
    const auto is_axis = [&](const Expr& variable) {
      const auto is_it = [&](const LaunchAxis& axis) { return axis.var.same_as(variable); };
      return std::any_of(launch.grid.begin(), launch.grid.end(), is_it) ||
             std::any_of(launch.block.begin(), launch.block.end(), is_it);
    };
    for (const Expr& variable : free_vars(launch.body))
      if (!is_axis(variable)) launch.parameters.push_back({nullptr, {}, variable});
  }

  bool is_input(const BufferRef& buffer) const {
    return std::any_of(function_.parameters.begin(), function_.parameters.end(), [&](const FunctionParameter& one) {
      return one.buffer == buffer && one.direction == Direction::in;
    });
  }

  const Function& function_;
  std::unordered_map<const Buffer*, Expr> places_;
};

}  // namespace

SharedArray shared_array(const BufferRef& buffer, std::int64_t offset) {
  constexpr std::int64_t kAlignment = 16;
  SharedArray array{buffer, 1, static_cast<std::int64_t>(dtype_bytes(buffer->dtype)), offset};
  for (const Expr& extent : buffer->shape) {
    const Expr simple = simplify(extent);
    const std::int64_t* known = as_int(simple);
    if (known == nullptr || __builtin_mul_overflow(array.bytes, *known, &array.bytes))
      throw InternalError("shared memory '" + buffer->name + "' has no constant size");
    array.elements *= *known;
  }
  array.bytes = (array.bytes + kAlignment - 1) / kAlignment * kAlignment;
  return array;
}

std::vector<Launch> launches_of(const Function& function) {
  Splitter splitter(function);
  if (function.body.defined()) splitter.run(function.body);
  if (!splitter.launches.empty()) return std::move(splitter.launches);
  Launch nothing;
  nothing.symbol = symbol_text(function);
  nothing.grid[0].extent = Expr(0);
  nothing.body = Evaluate::make(Expr(0));
  return {nothing};
}

}  // namespace ferry::passes
