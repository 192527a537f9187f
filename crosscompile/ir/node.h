// The list of nodes. Nodes are immutable trees: a pass that changes nothing returns the same node. Code that must
// handle all kinds expands one of these lists or switches over ExprKind or StmtKind without a default.
#pragma once

#include "ferry/expr.h"

#include <cstdint>
#include <memory>
#include <utility>

namespace ferry::ir {

#define FERRY_IR_EXPRS(X) \
  X(IntImm)               \
  X(FloatImm)             \
  X(Var)                  \
  X(Cast)                 \
  X(Unary)                \
  X(Binary)               \
  X(Select)               \
  X(IfThenElse)           \
  X(Load)                 \
  X(Call)                 \
  X(Reduce)               \
  X(Let)                  \
  X(Ramp)                 \
  X(Broadcast)            \
  X(VectorReduce)

#define FERRY_IR_STMTS(X) \
  X(Store)                \
  X(For)                  \
  X(Block)                \
  X(If)                   \
  X(Allocate)             \
  X(LetStmt)              \
  X(Assert)               \
  X(Evaluate)             \
  X(InstructionStmt)

#define FERRY_ENUM(name) name,
enum class ExprKind : std::uint8_t { FERRY_IR_EXPRS(FERRY_ENUM) };
enum class StmtKind : std::uint8_t { FERRY_IR_STMTS(FERRY_ENUM) };
#undef FERRY_ENUM

#define FERRY_DECLARE(name) struct name;
FERRY_IR_EXPRS(FERRY_DECLARE)
FERRY_IR_STMTS(FERRY_DECLARE)
#undef FERRY_DECLARE

// Maximum depth of recursion over a tree, destructors included; make() throws CompileError beyond it.
inline constexpr std::uint32_t kMaxDepth = 1000;

struct ExprNode {
  ExprKind kind;
  std::uint32_t depth;
  Type type;
};

struct StmtNode {
  StmtKind kind;
  std::uint32_t depth;
};

class Stmt : public Ref<StmtNode> {
 public:
  Stmt() = default;
  template <class T>
  Stmt(std::shared_ptr<const T> node) : Ref(std::move(node)) {}
};

}  // namespace ferry::ir
