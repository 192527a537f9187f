#include "tests/unit/crosscompile/passes/gpu/block.h"

#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/visitor.h"

namespace ferry::passes {

using namespace ir;

namespace {

std::string description(const Stmt& stmt) {
  if (const auto* loop = stmt.as<For>()) return loop->var.as<Var>()->name;
  if (const auto* store = stmt.as<Store>()) return store->buffer->name;
  if (const auto* let = stmt.as<LetStmt>()) return let->var.as<Var>()->name;
  return stmt.as<If>() != nullptr ? "if" : "something else";
}

void append(std::string& names, const Expr& var) {
  if (!names.empty()) names += ' ';
  names += var.as<Var>()->name;
}

bool is_barrier_statement(const Stmt& stmt) {
  const auto* evaluate = stmt.as<Evaluate>();
  return evaluate != nullptr && is_barrier(*evaluate);
}

class PlaceFinder : public Visitor {
 public:
  Places found;

 protected:
  using Visitor::visit_node;
  void visit_node(const For& node) override {
    const std::string outer = loops_;
    if (node.for_kind == ForKind::serial) append(loops_, node.var);
    Visitor::visit_node(node);
    loops_ = outer;
  }
  void visit_node(const Block& node) override {
    for (std::size_t i = 0; i < node.body.size(); ++i) {
      visit(node.body[i]);
      if (!is_barrier_statement(node.body[i])) continue;
      const bool is_last = i + 1 == node.body.size();
      std::string place = loops_;
      if (!place.empty()) place += ": ";
      place += is_last ? "at the end" : "before ";
      if (!is_last) place += description(node.body[i + 1]);
      found.push_back(place);
    }
  }

 private:
  std::string loops_;
};

class StoreFinder : public Visitor {
 public:
  explicit StoreFinder(const std::string& buffer) : buffer_(buffer) {}
  Places found;

 protected:
  using Visitor::visit_node;
  void visit_node(const For& node) override {
    const std::string outer = loops_;
    append(loops_, node.var);
    Visitor::visit_node(node);
    loops_ = outer;
  }
  void visit_node(const Store& node) override {
    if (node.buffer->name == buffer_) found.push_back(loops_);
  }

 private:
  const std::string& buffer_;
  std::string loops_;
};

}  // namespace

Stmt of_threads(const Expr& thread, std::int64_t count, const std::vector<BufferRef>& arrays, Stmt body) {
  Stmt kernel = loop(thread, Expr(count), std::move(body), kThreads);
  for (const BufferRef& one : arrays) kernel = Allocate::make(one, std::move(kernel));
  return kernel;
}

Places barriers(const Stmt& stmt) {
  PlaceFinder finder;
  finder.visit(stmt);
  return finder.found;
}

Places stores(const Stmt& stmt, const std::string& buffer) {
  StoreFinder finder(buffer);
  finder.visit(stmt);
  return finder.found;
}

std::string complaint(const Function& function, const std::vector<std::int64_t>& sizes) {
  try {
    (void)run(function, sizes);
  } catch (const InterpreterError& error) {
    return error.what();
  }
  return "none";
}

std::string refusal(const std::function<void()>& compile) {
  try {
    compile();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace ferry::passes
