// The code that the interpreter runs: the tree compiled to objects that refer to variables by slot. A vector is
// evaluated one lane at a time, which is what "lane by lane" means and lets the lanes of an if_then_else diverge.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/ir/interpreter_memory.h"
#include "crosscompile/ir/interpreter_value.h"

#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ferry::ir::interp {

// A store in flight (ir/async_copy.h).
struct AsyncStore {
  std::size_t buffer = 0;  // slot
  std::int64_t position = 0;
  Value value;
};

// The stores in flight of one thread.
struct AsyncStores {
  std::vector<std::vector<AsyncStore>> groups;  // committed, the oldest first
  std::vector<AsyncStore> open;                 // since the last commit
  bool is_starting = false;                     // whether stores are asynchronous now
};

// All state that changes while a function runs.
struct Frame {
  std::vector<Value> slots;
  std::vector<BoundBuffer> buffers;
  Clock clock;
  Workspaces workspaces;
  AsyncStores async_stores;                   // the running thread's
  std::uint64_t random = 0x9e3779b97f4a7c15;  // fixed seed, so that failures are reproducible
  // Scratch space of the running vector store.
  std::vector<std::int64_t> positions;
  std::vector<Value> values;
};

inline constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();

struct Code {
  virtual ~Code() = default;
  virtual Value eval(Frame& frame, std::uint32_t lane) const = 0;
  // Returns the slot that has the value of all lanes, or kNoSlot.
  virtual std::size_t read_slot() const { return kNoSlot; }
};
using CodePtr = std::unique_ptr<const Code>;

// Code that other code evaluates. A slot is read without a call, because most operands are variables and constants.
class Operand {
 public:
  Operand() = default;
  Operand(CodePtr code) : code_(std::move(code)), slot_(code_->read_slot()) {}
  Value eval(Frame& frame, std::uint32_t lane) const {
    return slot_ != kNoSlot ? frame.slots[slot_] : code_->eval(frame, lane);
  }

 private:
  CodePtr code_;
  std::size_t slot_ = kNoSlot;
};

struct Action {
  virtual ~Action() = default;
  // Returns what the kernel returns, or 0 to continue.
  virtual std::int32_t run(Frame& frame) const = 0;
};
using ActionPtr = std::unique_ptr<const Action>;

// Assigns slots in the frame to variables, constants and buffers.
class Layout {
 public:
  std::size_t define(const Expr& var);
  std::size_t constant(Value value);
  std::size_t slot_of(const Var& var) const;
  std::size_t buffer(const Buffer& buffer);
  // Returns the slots before the function runs: all constants have their values.
  std::vector<Value> slots() const;
  std::size_t buffer_count() const { return buffers_.size(); }
  // Keeps reducers alive that the compilation itself makes, because variables are identified by address.
  void keep(ReducerRef reducer) { kept_.push_back(std::move(reducer)); }
  // Whether a single index is a position also for buffers of rank 1.
  bool flat = false;
  // Whether the code belongs to one thread of a GPU's block.
  bool of_thread = false;

 private:
  std::unordered_map<const ExprNode*, std::size_t> slots_;
  std::unordered_map<std::uint64_t, std::size_t> constants_;  // by their bits
  std::unordered_map<const Buffer*, std::size_t> buffers_;
  std::size_t slot_count_ = 0;
  std::vector<ReducerRef> kept_;
};

CodePtr compile(const Expr& expr, Layout& layout);
ActionPtr compile(const Stmt& stmt, Layout& layout);
std::vector<CodePtr> compile_all(const std::vector<Expr>& exprs, Layout& layout);

// The parts that have a file of their own.
CodePtr compile_binary(const Binary& node, CodePtr left, CodePtr right);
CodePtr compile_cast(DType from, DType to, CodePtr value);
CodePtr compile_call(const Call& node, std::vector<CodePtr> arguments);
CodePtr compile_dot(const Call& node, std::vector<CodePtr> arguments);
CodePtr compile_load(const Load& node, Layout& layout);
ActionPtr compile_store(const Store& node, Layout& layout);
ActionPtr compile_allocate(const Allocate& node, Layout& layout);
// Compile Instruction::copy_async, and the statements that order copies.
ActionPtr compile_async_copy(const InstructionStmt& node, Layout& layout);
ActionPtr compile_copy_order(const Evaluate& node);
ActionPtr compile_parallel(const For& node, Layout& layout);
// Compiles the outermost loop over a GPU's threads, with the thread loops directly inside it.
ActionPtr compile_threads(const For& node, Layout& layout);

// Perfectly nested loops over blocks or threads, as one loop over all their iterations.
class LoopNest {
 public:
  // Takes the loop and, as long as the kinds of both `belong`, the one directly inside.
  LoopNest(const For& outermost, bool (*belongs)(ForKind), Layout& layout);
  const Stmt& body() const { return body_; }

  struct Bounds {
    std::vector<std::int64_t> mins, extents;  // outermost first
    std::int64_t count = 1;
  };
  // Throws InterpreterError(too_many) when the number of iterations exceeds the limit.
  Bounds bounds(Frame& frame, std::int64_t limit, const char* too_many) const;
  // Sets the variables to their values in an iteration; the innermost loop's variable changes fastest.
  void set(std::int64_t iteration, const Bounds& bounds, std::vector<Value>& slots) const;

 private:
  struct Level {
    std::size_t slot = 0;
    CodePtr min, extent;
  };
  std::vector<Level> levels_;
  Stmt body_;
};

// Evaluates a buffer's current shape and strides into `bound`.
class ShapeCode {
 public:
  ShapeCode(const Buffer& buffer, Layout& layout);
  void eval(Frame& frame, BoundBuffer& bound) const;

 private:
  const Buffer& buffer_;
  std::vector<CodePtr> shape_, strides_;
};

}  // namespace ferry::ir::interp
