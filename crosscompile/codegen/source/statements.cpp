#include "crosscompile/codegen/source/statements.h"

#include "crosscompile/codegen/source/calls.h"
#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/codegen/source/instructions.h"
#include "crosscompile/codegen/source/parallel.h"
#include "crosscompile/codegen/source/vector_copy.h"
#include "crosscompile/codegen/source/workspace.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/print_context.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "ferry/operators.h"

namespace ferry::codegen::source {
namespace {

// Prints a statement between braces.
void print_inside(FunctionState& state, const ir::Stmt& stmt) {
  ++state.indent;
  state.names.open();
  print_stmt(state, stmt);
  state.names.close();
  --state.indent;
}

// Recognises A[i] = A[i] + x, which is printed as +=. Types narrower than int are excluded, because C would compute in
// int, and so are floats that are represented by their bits, which have no operators.
const ir::Binary* update_of(const ir::Store& store) {
  const auto* value = store.value.as<ir::Binary>();
  if (value == nullptr || (value->op != ir::BinaryOp::add && value->op != ir::BinaryOp::mul)) return nullptr;
  const DType type = value->type.code;
  if (type != DType::f32 && type != DType::f64 && type != DType::u32 && type != DType::u64) return nullptr;
  const auto* load = value->left.as<ir::Load>();
  if (load == nullptr || load->buffer != store.buffer || load->mask.defined()) return nullptr;
  return ir::equal(load->indices.at(0), store.indices.at(0)) ? value : nullptr;
}

void print_assignment(FunctionState& state, const ir::Store& node) {
  const std::string place = element_text(state, *node.buffer, node.indices.at(0));
  if (const ir::Binary* update = update_of(node)) {
    const std::string value = print(state, update->right);
    state.line(place + (update->op == ir::BinaryOp::add ? " += " : " *= ") + value + ";");
    return;
  }
  const std::string value = print(state, node.value);
  state.line(place + " = " + value + ";");
}

void print_store(FunctionState& state, const ir::Store& node) {
  if (!node.mask.defined()) return print_assignment(state, node);
  state.line("if (" + print(state, node.mask) + ") {");
  print_inside(state, ir::Store::make(node.buffer, node.indices, node.value));
  state.line("}");
}

// Returns the end of the loop: `end` itself when the extent is end - min.
ir::Expr end_of(const ir::For& node) {
  const auto* difference = node.extent.as<ir::Binary>();
  if (difference != nullptr && difference->op == ir::BinaryOp::sub && ir::equal(difference->right, node.min))
    return difference->left;
  return node.min + node.extent;
}

void print_serial(FunctionState& state, const ir::For& node) {
  if (print_vector_copy(state, node)) return;
  const bool on_gpu = state.on_gpu();
  const bool is_vector = node.for_kind == ir::ForKind::vectorized;
  if (is_vector && !on_gpu) state.line("/* vectorized */");
  if (node.for_kind == ir::ForKind::unrolled || (on_gpu && is_vector))
    state.line(std::string(state.unit.dialect.unroll));
  const std::string name = node.var.as<ir::Var>()->name;
  const std::string begin = print_bound(state, node.min, name + "_begin");
  print_loop(state, node, begin, print_bound(state, end_of(node), name + "_end"));
}

void print_for(FunctionState& state, const ir::For& node) {
  if (ir::is_block(node.for_kind) || ir::is_thread(node.for_kind))
    throw CompileError("expected loops that plain C has, got one over " + std::string(ir::kind_name(node.for_kind)) +
                       ": blocks and threads are a GPU's (targets cuda and opencl)");
  // The runtime runs nested parallel loops inline; a plain loop does the same without the call.
  const bool on_threads = node.for_kind == ir::ForKind::parallel && !state.in_parallel && !state.on_gpu();
  return on_threads ? print_parallel(state, node) : print_serial(state, node);
}

void print_block(FunctionState& state, const ir::Block& node) {
  for (std::size_t i = 0; i < node.body.size(); ++i) {
    const ir::StmtKind kind = node.body[i].kind();
    const bool declares = kind == ir::StmtKind::Allocate || kind == ir::StmtKind::LetStmt;
    // A name whose scope ends before the block does gets braces.
    if (declares && i + 1 < node.body.size()) {
      state.line("{");
      print_inside(state, node.body[i]);
      state.line("}");
    } else {
      print_stmt(state, node.body[i]);
    }
  }
}

void print_if(FunctionState& state, const ir::If& node) {
  state.line("if (" + print(state, node.condition) + ") {");
  print_inside(state, node.on_true);
  if (node.on_false.defined()) {
    state.line("} else {");
    print_inside(state, node.on_false);
  }
  state.line("}");
}

void print_let(FunctionState& state, const ir::LetStmt& node) {
  const std::string value = print(state, node.value);
  state.known[node.var.get()] = analysis::range_of(state.known, node.value);
  state.assumed[node.var.get()] = analysis::range_of(state.assumed, node.value);
  const std::string name = state.names.declare(node.var);
  state.line("const " + value_type(node.var.type().code) + " " + name + " = " + value + ";");
  print_stmt(state, node.body);
  state.names.forget(node.var.get());
}

void print_assert(FunctionState& state, const ir::Assert& node) {
  const std::string condition = print(state, ir::logical_not(node.condition));
  state.line("if (" + condition + ") return " + std::to_string(node.message + 1) + ";");
}

void print_barrier(FunctionState& state) {
  if (state.unit.dialect.barrier.empty())
    throw CompileError("expected loops that plain C has, got a barrier between the threads of a GPU's block");
  state.line(std::string(state.unit.dialect.barrier));
}

void print_unused(FunctionState& state, const ir::Expr& value) {
  state.line("(void)" + wrapped({print(state, value), Binding::lowest}, Binding::unary) + ";");
}

void print_evaluate(FunctionState& state, const ir::Evaluate& node) {
  const auto* call = node.value.as<ir::Call>();
  if (call == nullptr) return print_unused(state, node.value);
  switch (call->callee.op) {
    case ir::CallOp::barrier: return print_barrier(state);
    case ir::CallOp::commit_copies:
    case ir::CallOp::wait_copies: return print_copy_order(state, node);
    case ir::CallOp::external:
      return call->type.is_float() ? print_unused(state, node.value) : print_extern_call(state, *call);
    case ir::CallOp::math:
    case ir::CallOp::intrinsic:
    case ir::CallOp::bitcast:
    case ir::CallOp::dot:
    case ir::CallOp::scale:
    case ir::CallOp::shuffle_xor:
    case ir::CallOp::prefetch:
    case ir::CallOp::address_of: return print_unused(state, node.value);
  }
}

}  // namespace

std::string shape_comment(const ir::Buffer& buffer) {
  ir::PrintNames names;
  std::string text;
  for (const ir::Expr& extent : buffer.shape) text += (text.empty() ? "" : ", ") + ir::expr_text(extent, names);
  return "/* [" + text + "] */";
}

std::string print_bound(FunctionState& state, const ir::Expr& bound, const std::string& name) {
  std::string text = print_index(state, bound);
  if (!ir::contains(bound, {ir::ExprKind::Load, ir::ExprKind::Call, ir::ExprKind::Let})) return text;
  const std::string once = state.names.fresh(name);
  state.line("const int64_t " + once + " = " + text + ";");
  return once;
}

void note_loop(FunctionState& state, const ir::For& node) {
  for (analysis::ValueRanges* ranges : {&state.known, &state.assumed}) {
    (*ranges)[node.var.get()] = analysis::range_of_loop(*ranges, node);
  }
}

void print_loop(FunctionState& state, const ir::For& node, const std::string& begin, const std::string& end) {
  note_loop(state, node);
  state.names.open();
  const std::string var = state.names.declare(node.var);
  state.line("for (int64_t " + var + " = " + begin + "; " + var + " < " + end + "; ++" + var + ") {");
  ++state.indent;
  print_stmt(state, node.body);
  --state.indent;
  state.line("}");
  state.names.close();
}

void print_stmt(FunctionState& state, const ir::Stmt& stmt) {
  switch (stmt.kind()) {
    case ir::StmtKind::Store: return print_store(state, *stmt.as<ir::Store>());
    case ir::StmtKind::For: return print_for(state, *stmt.as<ir::For>());
    case ir::StmtKind::Block: return print_block(state, *stmt.as<ir::Block>());
    case ir::StmtKind::If: return print_if(state, *stmt.as<ir::If>());
    case ir::StmtKind::Allocate: return print_allocate(state, *stmt.as<ir::Allocate>());
    case ir::StmtKind::LetStmt: return print_let(state, *stmt.as<ir::LetStmt>());
    case ir::StmtKind::Assert: return print_assert(state, *stmt.as<ir::Assert>());
    case ir::StmtKind::Evaluate: return print_evaluate(state, *stmt.as<ir::Evaluate>());
    case ir::StmtKind::InstructionStmt: return print_instruction(state, *stmt.as<ir::InstructionStmt>());
  }
  throw InternalError("print_stmt: an unknown kind of statement");
}

}  // namespace ferry::codegen::source
