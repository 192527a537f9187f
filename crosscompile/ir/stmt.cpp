#include "crosscompile/ir/stmt.h"

#include "crosscompile/ir/make.h"

namespace ferry::ir {

const char* kind_name(ForKind kind) {
  switch (kind) {
    case ForKind::serial: return "";
    case ForKind::parallel: return "parallel";
    case ForKind::vectorized: return "vectorized";
    case ForKind::unrolled: return "unrolled";
    case ForKind::block_x: return "blockIdx.x";
    case ForKind::block_y: return "blockIdx.y";
    case ForKind::block_z: return "blockIdx.z";
    case ForKind::thread_x: return "threadIdx.x";
    case ForKind::thread_y: return "threadIdx.y";
    case ForKind::thread_z: return "threadIdx.z";
    case ForKind::vthread: return "vthread";
    case ForKind::combine: return "combine";
  }
  return "";
}

Stmt Store::make(BufferRef buffer, std::vector<Expr> indices, Expr value, Expr mask) {
  const std::uint32_t lanes = check_access(buffer, indices, mask);
  expect(value.defined(), "a store needs a value");
  if (value.type() != Type(buffer->dtype, lanes)) {
    throw InternalError("a store to '" + buffer->name + "' needs a value of type " +
                        to_text(Type(buffer->dtype, lanes)) + ", got " + to_text(value.type()));
  }
  auto node = new_node<Store>();
  deepen_all(*node, indices, value, mask);
  node->buffer = std::move(buffer);
  node->indices = std::move(indices);
  node->value = std::move(value);
  node->mask = std::move(mask);
  return std::shared_ptr<const Store>(std::move(node));
}

Stmt For::make(Expr var, Expr min, Expr extent, ForKind kind, Stmt body) {
  expect(var.as<Var>() != nullptr && var.type() == kIndex, "a loop needs a variable of the index type");
  expect(min.defined() && min.type() == kIndex && extent.defined() && extent.type() == kIndex,
         "a loop's range must be of the index type");
  expect(body.defined(), "a loop needs a body");
  auto node = new_node<For>();
  deepen_all(*node, min, extent, body);
  node->var = std::move(var);
  node->min = std::move(min);
  node->extent = std::move(extent);
  node->for_kind = kind;
  node->body = std::move(body);
  return std::shared_ptr<const For>(std::move(node));
}

Stmt Block::make(std::vector<Stmt> body) {
  std::vector<Stmt> flat;
  flat.reserve(body.size());
  for (Stmt& stmt : body) {
    if (!stmt) continue;
    if (const auto* inner = stmt.as<Block>()) {
      flat.insert(flat.end(), inner->body.begin(), inner->body.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.size() == 1) return flat[0];
  auto node = new_node<Block>();
  deepen_all(*node, flat);
  node->body = std::move(flat);
  return std::shared_ptr<const Block>(std::move(node));
}

Stmt If::make(Expr condition, Stmt on_true, Stmt on_false) {
  expect(condition.defined() && condition.type() == kBool, "an if needs a scalar bool condition");
  expect(on_true.defined(), "an if needs something to do");
  auto node = new_node<If>();
  deepen_all(*node, condition, on_true, on_false);
  node->condition = std::move(condition);
  node->on_true = std::move(on_true);
  node->on_false = std::move(on_false);
  return std::shared_ptr<const If>(std::move(node));
}

Stmt Allocate::make(BufferRef buffer, Stmt body, Expr offset, WorkspaceKind workspace) {
  expect(buffer != nullptr && buffer->scope != Scope::parameter, "a parameter cannot be allocated");
  expect(body.defined(), "an allocation needs a body");
  if (offset) {
    expect(offset.type() == kIndex, "an allocation's offset must be of the index type");
    expect(buffer->scope == Scope::global, "only a global buffer has a place in the workspace");
  }
  auto node = new_node<Allocate>();
  deepen_all(*node, buffer->shape, buffer->strides, body, offset);
  node->buffer = std::move(buffer);
  node->body = std::move(body);
  node->offset = std::move(offset);
  node->workspace = workspace;
  return std::shared_ptr<const Allocate>(std::move(node));
}

Stmt LetStmt::make(Expr var, Expr value, Stmt body) {
  expect(var.as<Var>() != nullptr && value && body, "a let needs a variable, a value and a body");
  expect(var.type() == value.type(), "a let's variable must have its value's type");
  auto node = new_node<LetStmt>();
  deepen_all(*node, value, body);
  node->var = std::move(var);
  node->value = std::move(value);
  node->body = std::move(body);
  return std::shared_ptr<const LetStmt>(std::move(node));
}

Stmt Assert::make(Expr condition, std::uint32_t message) {
  expect(condition.defined() && condition.type() == kBool, "an assertion needs a scalar bool condition");
  auto node = new_node<Assert>();
  deepen_all(*node, condition);
  node->condition = std::move(condition);
  node->message = message;
  return std::shared_ptr<const Assert>(std::move(node));
}

Stmt Evaluate::make(Expr value) {
  expect(value.defined(), "nothing to evaluate");
  auto node = new_node<Evaluate>();
  deepen_all(*node, value);
  node->value = std::move(value);
  return std::shared_ptr<const Evaluate>(std::move(node));
}

const char* instruction_name(Instruction instruction) {
  switch (instruction) {
#define FERRY_CASE(name) \
  case Instruction::name: return #name;
    FERRY_IR_INSTRUCTIONS(FERRY_CASE)
#undef FERRY_CASE
  }
  return "";
}

Stmt InstructionStmt::make(Instruction instruction, std::vector<Expr> arguments, Stmt definition) {
  expect(definition.defined(), "an instruction needs a definition");
  auto node = new_node<InstructionStmt>();
  deepen_all(*node, arguments, definition);
  node->instruction = instruction;
  node->arguments = std::move(arguments);
  node->definition = std::move(definition);
  return std::shared_ptr<const InstructionStmt>(std::move(node));
}

}  // namespace ferry::ir
