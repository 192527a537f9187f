#include "crosscompile/codegen/source/workspace.h"

#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/codegen/source/statements.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"
#include "ferry/runtime_api.h"

#include <algorithm>

namespace ferry::codegen::source {
namespace {

std::int64_t constant_elements(const ir::Buffer& buffer) {
  std::int64_t count = 1;
  for (const ir::Expr& extent : buffer.shape) {
    const std::int64_t* value = ir::as_int(extent);
    if (value == nullptr || *value < 0) throw InternalError("local array '" + buffer.name + "' has no constant size");
    if (__builtin_mul_overflow(count, *value, &count))
      throw InternalError("local array '" + buffer.name + "' is too large");
  }
  return std::max<std::int64_t>(count, 1);
}

class Finder : public ir::Visitor {
 public:
  explicit Finder(bool in_parallel) : enter_parallel_(in_parallel) {}
  BlockUse use;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Allocate& node) override {
    if (node.offset.defined()) {
      if (node.workspace == ir::WorkspaceKind::call) use.call = true;
      if (node.workspace == ir::WorkspaceKind::thread && (parallel_depth_ == 0 || enter_parallel_)) use.thread = true;
    }
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::For& node) override {
    const unsigned inside = node.for_kind == ir::ForKind::parallel ? 1 : 0;
    parallel_depth_ += inside;
    ir::Visitor::visit_node(node);
    parallel_depth_ -= inside;
  }

 private:
  bool enter_parallel_;
  unsigned parallel_depth_ = 0;
};

// Finds uses of the buffer's address.
class AddressFinder : public ir::Visitor {
 public:
  explicit AddressFinder(const ir::Buffer& buffer) : buffer_(buffer) {}
  bool found = false;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Call& node) override {
    const ir::Load* element = ir::addressed(node);
    if (element != nullptr && element->buffer.get() == &buffer_) found = true;
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::For& node) override {
    if (node.for_kind == ir::ForKind::parallel) found = true;
    ir::Visitor::visit_node(node);
  }

 private:
  const ir::Buffer& buffer_;
};

// Returns the body, without its first statement where that initialises the variable.
ir::Stmt print_variable(FunctionState& state, const ir::Allocate& node) {
  const ir::Buffer& buffer = *node.buffer;
  state.scalars.insert(&buffer);
  const auto* block = node.body.as<ir::Block>();
  const auto* first = block == nullptr || block->body.empty() ? nullptr : block->body[0].as<ir::Store>();
  const bool starts = first != nullptr && first->buffer == node.buffer && !first->mask.defined();
  // Compilers cannot see that the variable is written before it is read, so it is always initialised.
  const std::string value = starts ? print(state, first->value) : "0";
  const std::string name = state.names.declare(&buffer, buffer.name);
  state.line(memory_type(buffer.dtype) + " " + name + " = " + value + ";");
  return starts ? ir::Block::make({block->body.begin() + 1, block->body.end()}) : node.body;
}

ir::Stmt print_local(FunctionState& state, const ir::Allocate& node) {
  const ir::Buffer& buffer = *node.buffer;
  const std::int64_t elements = constant_elements(buffer);
  AddressFinder addresses(buffer);
  addresses.visit(node.body);
  if (elements == 1 && !addresses.found) return print_variable(state, node);
  const std::string declared = memory_type(buffer.dtype) + " " + state.names.declare(&buffer, buffer.name);
  const std::string comment = buffer.shape.size() > 1 ? "  " + shape_comment(buffer) : "";
  state.line(declared + "[" + std::to_string(elements) + "];" + comment);
  return node.body;
}

void print_placed(FunctionState& state, const ir::Allocate& node) {
  const ir::Buffer& buffer = *node.buffer;
  const std::string type = memory_type(buffer.dtype);
  const std::string& block = node.workspace == ir::WorkspaceKind::call ? state.call_block : state.thread_block;
  if (block.empty()) throw InternalError("'" + buffer.name + "' lies in a block that was not asked for");
  const bool at_begin = ir::is_constant(node.offset, 0);
  const std::string place =
      at_begin ? block : "(" + block + " + " + print_index(state, node.offset, Binding::product) + ")";
  const std::string name = state.names.declare(&buffer, buffer.name);
  state.line(type + "* const " + name + " = (" + type + "*)" + place + ";  " + shape_comment(buffer));
}

std::string ask_for(FunctionState& state, ferry_workspace_kind kind, const char* name) {
  const std::string block = state.names.fresh(name);
  state.line("char* const " + block + " = rt->workspace(rt, " + std::to_string(kind) + ");");
  return block;
}

}  // namespace

BlockUse block_use(const ir::Stmt& body, bool in_parallel) {
  Finder finder(in_parallel);
  finder.visit(body);
  return finder.use;
}

void print_allocate(FunctionState& state, const ir::Allocate& node) {
  ir::Stmt body = node.body;
  if (node.offset.defined()) {
    print_placed(state, node);
  } else if (node.buffer->scope == ir::Scope::local) {
    body = print_local(state, node);
  } else {
    throw InternalError("'" + node.buffer->name + "' has no place in the workspace; plan_workspace must stand before");
  }
  print_stmt(state, body);
  state.names.forget(node.buffer.get());
}

void print_workspace_blocks(FunctionState& state, const ir::Stmt& body) {
  const BlockUse use = block_use(body, state.in_parallel);
  if (use.call && state.call_block.empty()) state.call_block = ask_for(state, FERRY_WORKSPACE_CALL, "call_block");
  if (use.thread) state.thread_block = ask_for(state, FERRY_WORKSPACE_THREAD, "thread_block");
}

}  // namespace ferry::codegen::source
