#include "crosscompile/passes/tensorize/select_instructions.h"

#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/passes/gpu/thread_group.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "crosscompile/passes/tensorize/tile_dot.h"

#include <algorithm>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

constexpr std::int64_t kAlongX = 4, kAlongY = 8;

DType result_type(const Stmt& definition) { return stored_buffers(definition).at(0)->dtype; }

class Matcher : public Mutator {
 public:
  explicit Matcher(const Target& target)
      : can_(target.capabilities), has_instructions_(target.capabilities.tensor_cores) {}

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (is_thread(node.for_kind) && !in_kernel_) return in_kernel(node, self);
    const bool had = std::exchange(divided_, divided_ || differs(node.min) || differs(node.extent));
    Stmt result = Mutator::mutate_node(node, self);
    divided_ = had;
    return result;
  }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    const bool had = std::exchange(divided_, divided_ || differs(node.condition));
    Stmt result = Mutator::mutate_node(node, self);
    divided_ = had;
    return result;
  }

  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    if (differs(node.value)) differing_.push_back(node.var);
    return Mutator::mutate_node(node, self);
  }

  Stmt mutate_node(const Evaluate& node, const Stmt& self) override {
    return orders_copies(node) && !has_instructions_ ? Stmt() : self;
  }

  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    if (!node.arguments.empty()) return self;
    if (node.instruction == Instruction::tile_dot) return matched_tiles(node);
    if (!in_kernel_) return self;
    try {
      if (divided_)
        throw CompileError(
            "expected all threads of a warp to come here, got a condition or a loop that differs from "
            "thread to thread");
      std::vector<Expr> arguments = match_tensor_core(node.definition, warp_);
      return has_instructions_ ? InstructionStmt::make(node.instruction, std::move(arguments), node.definition)
                               : node.definition;
    } catch (const CompileError& error) {
      throw CompileError(std::string("tensorize ") + instruction_name(node.instruction) + ": " + error.what());
    }
  }

 private:
  Stmt in_kernel(const For& outermost, const Stmt& self) {
    const ThreadNest nest = thread_nest(outermost);
    warp_ = {};
    differing_.clear();
    for (const ThreadAxis& axis : nest.axes) {
      if (axis.kind == ForKind::thread_x && axis.extent == kAlongX) warp_.x = axis.var;
      if (axis.kind == ForKind::thread_y && axis.extent == kAlongY) warp_.y = axis.var;
      // The third axis counts whole warps, so it does not differ within a warp.
      if (axis.kind != ForKind::thread_z) differing_.push_back(axis.var);
    }
    in_kernel_ = true;
    Stmt body = mutate(nest.innermost->body);
    in_kernel_ = false;
    if (body.same_as(nest.innermost->body)) return self;
    return with_body(outermost, *nest.innermost, std::move(body));
  }

  bool differs(const Expr& expr) const {
    return contains(expr, {ExprKind::Load}) ||
           std::any_of(differing_.begin(), differing_.end(), [&](const Expr& var) { return uses_var(expr, var); });
  }

  Stmt matched_tiles(const InstructionStmt& node) const {
    try {
      Stmt result = match_tile_dot(node.definition);
      const bool has_tiles = result_type(node.definition) == DType::f32 ? can_.amx_bf16 : can_.amx_int8;
      return has_tiles ? std::move(result) : node.definition;
    } catch (const CompileError& error) {
      throw CompileError(std::string("tensorize ") + instruction_name(node.instruction) + ": " + error.what());
    }
  }

  const Capabilities& can_;
  bool has_instructions_;
  bool in_kernel_ = false, divided_ = false;
  Warp warp_;
  std::vector<Expr> differing_;
};

}  // namespace

Function select_instructions(Function function, const Target& target) {
  if (function.body.defined()) function.body = Matcher(target).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
