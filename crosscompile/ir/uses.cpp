#include "crosscompile/ir/uses.h"

#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <unordered_set>

namespace ferry::ir {
namespace {

class BufferFinder : public Visitor {
 public:
  explicit BufferFinder(bool counts_loads) : counts_loads_(counts_loads) {}
  std::vector<BufferRef> found;

 protected:
  using Visitor::visit_node;
  void visit_node(const Load& node) override {
    if (counts_loads_) use(node.buffer);
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    use(node.buffer);
    Visitor::visit_node(node);
  }
  void visit_node(const Allocate& node) override {
    seen_.insert(node.buffer.get());
    Visitor::visit_node(node);
  }

 private:
  void use(const BufferRef& buffer) {
    if (seen_.insert(buffer.get()).second) found.push_back(buffer);
  }
  bool counts_loads_;
  std::unordered_set<const Buffer*> seen_;
};

class KindFinder : public Visitor {
 public:
  explicit KindFinder(std::initializer_list<ExprKind> kinds) : kinds_(kinds) {}
  bool found = false;

 protected:
  using Visitor::visit_node;
#define FERRY_VISIT(name)                                                                  \
  void visit_node(const name& node) override {                                             \
    found = found || std::find(kinds_.begin(), kinds_.end(), name::kKind) != kinds_.end(); \
    if (!found) Visitor::visit_node(node);                                                 \
  }
  FERRY_IR_EXPRS(FERRY_VISIT)
#undef FERRY_VISIT

 private:
  std::initializer_list<ExprKind> kinds_;
};

}  // namespace

std::vector<BufferRef> used_buffers(const Stmt& stmt) {
  BufferFinder finder(true);
  finder.visit(stmt);
  return std::move(finder.found);
}

std::vector<BufferRef> stored_buffers(const Stmt& stmt) {
  BufferFinder finder(false);
  finder.visit(stmt);
  return std::move(finder.found);
}

bool contains(const Expr& expr, std::initializer_list<ExprKind> kinds) {
  KindFinder finder(kinds);
  finder.visit(expr);
  return finder.found;
}

}  // namespace ferry::ir
