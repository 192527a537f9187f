#include "crosscompile/passes/gpu/extract_kernels.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/symbol.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
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

class KernelExtractor {
 public:
  explicit KernelExtractor(const Function& function) : function_(function) {}
  std::vector<GpuKernel> kernels;

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
  void add(const Stmt& stmt) {
    GpuKernel kernel;
    kernel.symbol = symbol_text(function_) + (kernels.empty() ? "" : "_" + std::to_string(kernels.size()));
    kernel.body = stmt;
    while (peel(kernel)) {
    }
    if (has_gpu_loops(kernel.body))
      throw CompileError("'" + function_.name + "': expected loops over blocks and threads around all of a kernel");
    find_parameters(kernel);
    kernels.push_back(std::move(kernel));
  }

  static bool peel(GpuKernel& kernel) {
    if (const auto* loop = kernel.body.as<For>();
        loop != nullptr && (is_block(loop->for_kind) || is_thread(loop->for_kind))) {
      auto& axes = is_block(loop->for_kind) ? kernel.grid : kernel.block;
      axes.at(gpu_axis(loop->for_kind)) = {loop->var, simplify(loop->extent)};
      kernel.body = Stmt(loop->body);
      return true;
    }
    const auto* allocate = kernel.body.as<Allocate>();
    if (allocate == nullptr || allocate->buffer->scope != Scope::shared) return false;
    kernel.shared.push_back(shared_array(allocate->buffer, kernel.shared_bytes));
    kernel.shared_bytes += kernel.shared.back().bytes;
    kernel.body = Stmt(allocate->body);
    return true;
  }

  void find_parameters(GpuKernel& kernel) const {
    Checker().visit(kernel.body);
    for (const BufferRef& buffer : used_buffers(kernel.body)) {
      const auto is_it = [&](const SharedArray& array) { return array.buffer == buffer; };
      if (std::any_of(kernel.shared.begin(), kernel.shared.end(), is_it)) continue;
      const auto place = places_.find(buffer.get());
      kernel.parameters.push_back({buffer, place == places_.end() ? Expr() : place->second, {}, is_input(buffer)});
    }
    const auto is_axis = [&](const Expr& variable) {
      const auto is_it = [&](const KernelAxis& axis) { return axis.var.same_as(variable); };
      return std::any_of(kernel.grid.begin(), kernel.grid.end(), is_it) ||
             std::any_of(kernel.block.begin(), kernel.block.end(), is_it);
    };
    for (const Expr& variable : free_vars(kernel.body))
      if (!is_axis(variable)) kernel.parameters.push_back({nullptr, {}, variable});
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

std::vector<GpuKernel> extract_kernels(const Function& function) {
  KernelExtractor extractor(function);
  if (function.body.defined()) extractor.run(function.body);
  if (!extractor.kernels.empty()) return std::move(extractor.kernels);
  GpuKernel nothing;
  nothing.symbol = symbol_text(function);
  nothing.grid[0].extent = Expr(0);
  nothing.body = Evaluate::make(Expr(0));
  return {nothing};
}

}  // namespace ferry::passes
