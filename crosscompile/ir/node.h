// The list of nodes, and the handles that share them. Nodes are immutable trees: a pass that changes nothing returns
// the same node. Code that must handle all kinds expands these two lists or switches over NodeKind without a default.
#pragma once

#include "crosscompile/ir/type.h"

#include <cstdint>
#include <memory>

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
  X(Intrinsic)

enum class NodeKind : std::uint8_t {
#define FERRY_ENUM(name) name,
  FERRY_IR_EXPRS(FERRY_ENUM) FERRY_IR_STMTS(FERRY_ENUM)
#undef FERRY_ENUM
};

#define FERRY_DECLARE(name) struct name;
FERRY_IR_EXPRS(FERRY_DECLARE)
FERRY_IR_STMTS(FERRY_DECLARE)
#undef FERRY_DECLARE

// Maximum depth of recursion over a tree, destructors included; make() throws CompileError beyond it.
inline constexpr std::uint32_t kMaxDepth = 1000;

struct Node {
  NodeKind kind;
  std::uint32_t depth;
};

struct ExprNode : Node {
  Type type;
};

struct StmtNode : Node {};

// A shared reference to an immutable node, or nothing.
template <class Base>
class Ref {
 public:
  Ref() = default;
  template <class T>
  Ref(std::shared_ptr<const T> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const { return defined(); }
  NodeKind kind() const { return node_->kind; }
  const Base* get() const { return node_.get(); }
  // Compares identity, not structure.
  bool same_as(const Ref& other) const { return node_ == other.node_; }
  // Returns the node as a T, or null when it is another kind (or nothing).
  template <class T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const Base> node_;
};

class Expr : public Ref<ExprNode> {
 public:
  Expr() = default;
  template <class T>
  Expr(std::shared_ptr<const T> node) : Ref(std::move(node)) {}
  // Index constants.
  Expr(int value);
  Expr(std::int64_t value);
  // Float constants, f32 and f64.
  Expr(float value);
  Expr(double value);

  Type type() const { return get()->type; }
};

class Stmt : public Ref<StmtNode> {
 public:
  Stmt() = default;
  template <class T>
  Stmt(std::shared_ptr<const T> node) : Ref(std::move(node)) {}
};

}  // namespace ferry::ir
