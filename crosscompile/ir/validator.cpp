#include "crosscompile/ir/validator.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/visitor.h"

#include <unordered_set>

namespace ferry::ir {
namespace {

constexpr std::size_t kShown = 2000;

class Validator : public Visitor {
 public:
  Validator(const Function& function, const std::string& after) : function_(function), after_(after) {}

  void run() {
    check_parameters();
    for (const Requirement& requirement : function_.requirements) {
      if (!requirement.condition.defined() || requirement.condition.type() != kBool)
        fail("a requirement is not a bool");
      visit(requirement.condition);
    }
    for (const Expr& bytes : {function_.call_workspace, function_.thread_workspace, function_.flops}) {
      if (bytes.defined() && bytes.type() != kIndex) fail("a workspace or a count of operations is not an index");
      visit(bytes);
    }
    symbols_ = defined_;
    visit(function_.body);
  }

 protected:
  void visit_node(const Var& node) override {
    if (!defined_.contains(&node)) fail("'" + node.name + "' is used where it is not defined");
  }

  void visit_node(const Reduce&) override { fail("a reduction is left over from before lowering"); }

  void visit_node(const Load& node) override {
    check_buffer(node.buffer);
    Visitor::visit_node(node);
  }

  void visit_node(const Let& node) override {
    visit(node.value);
    define(node.var);
    visit(node.body);
    defined_.erase(node.var.get());
  }

  void visit_node(const Store& node) override {
    const Inside inside(*this, &node);
    check_buffer(node.buffer);
    if (read_only_.contains(node.buffer.get())) fail("'" + node.buffer->name + "' is an input, but is written");
    Visitor::visit_node(node);
  }

  void visit_node(const For& node) override {
    const Inside inside(*this, &node);
    visit(node.min);
    visit(node.extent);
    define(node.var);
    visit(node.body);
    defined_.erase(node.var.get());
  }

  void visit_node(const If& node) override {
    const Inside inside(*this, &node);
    Visitor::visit_node(node);
  }

  void visit_node(const Allocate& node) override {
    const Inside inside(*this, &node);
    const Buffer& buffer = *node.buffer;
    check_shape(buffer);
    if (!buffers_.insert(&buffer).second) fail("'" + buffer.name + "' is allocated inside its own allocation");
    if (node.offset.defined()) check_offset(node);
    visit(node.body);
    buffers_.erase(&buffer);
  }

  void visit_node(const LetStmt& node) override {
    const Inside inside(*this, &node);
    visit(node.value);
    define(node.var);
    visit(node.body);
    defined_.erase(node.var.get());
  }

  void visit_node(const Assert& node) override {
    const Inside inside(*this, &node);
    if (node.message >= function_.messages.size()) fail("an assertion's message is not in the function's list");
    Visitor::visit_node(node);
  }

  void visit_node(const Evaluate& node) override {
    const Inside inside(*this, &node);
    Visitor::visit_node(node);
  }

  void visit_node(const InstructionStmt& node) override {
    const Inside inside(*this, &node);
    for (const Expr& argument : node.arguments) visit(argument);
    Visitor::visit_node(node);
  }

 private:
  // Remembers the statement to show when something in it is wrong.
  struct Inside {
    Inside(Validator& validator, const StmtNode* node) : validator_(validator), outer_(validator.at_) {
      validator_.at_ = node;
    }
    ~Inside() { validator_.at_ = outer_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Validator& validator_;
    const StmtNode* outer_;
  };

  [[noreturn]] void fail(const std::string& what) const {
    std::string shown;
    if (at_ != nullptr) {
      // The tree outlives this handle, which must not delete its node.
      shown = ", in:\n" + to_text(Stmt(std::shared_ptr<const StmtNode>(std::shared_ptr<void>(), at_)));
      if (shown.size() > kShown) shown = shown.substr(0, kShown) + "...";
    }
    throw InternalError("after " + after_ + ": " + function_.name + ": " + what + shown);
  }

  void define(const Expr& var) {
    if (!defined_.insert(var.get()).second) fail("'" + var.as<Var>()->name + "' is defined again inside its own scope");
  }

  void check_parameters() {
    std::unordered_set<std::string> names;
    for (const Expr& symbol : function_.symbols) {
      if (symbol.as<Var>() == nullptr || symbol.type() != kIndex) fail("a symbol is not a variable of the index type");
      define(symbol);
    }
    for (const FunctionParameter& parameter : function_.parameters) {
      if (!names.insert(parameter.name).second) fail("two parameters are called '" + parameter.name + "'");
      if (parameter.kind == ParameterKind::tensor) {
        if (parameter.buffer == nullptr || parameter.buffer->scope != Scope::parameter) {
          fail("parameter '" + parameter.name + "' has no buffer of its own");
        }
        // An in-out tensor must be read and written through a single buffer.
        if (!buffers_.insert(parameter.buffer.get()).second) fail("two parameters share '" + parameter.name + "'");
        if (parameter.direction == Direction::in) read_only_.insert(parameter.buffer.get());
      } else {
        if (parameter.scalar.as<Var>() == nullptr) fail("parameter '" + parameter.name + "' has no variable");
        // An index scalar may be a symbol as well.
        defined_.insert(parameter.scalar.get());
      }
    }
    for (const FunctionParameter& parameter : function_.parameters) {
      if (parameter.kind == ParameterKind::tensor) check_shape(*parameter.buffer);
    }
  }

  void check_shape(const Buffer& buffer) {
    if (buffer.definition != nullptr) fail("'" + buffer.name + "' has a definition left over from before lowering");
    if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size()) {
      fail("'" + buffer.name + "' has another number of strides than dimensions");
    }
    for (const auto* list : {&buffer.shape, &buffer.strides}) {
      for (const Expr& expr : *list) {
        if (!expr.defined() || expr.type() != kIndex) fail("'" + buffer.name + "' has a size that is not an index");
        visit(expr);
      }
    }
  }

  void check_buffer(const BufferRef& buffer) const {
    if (!buffers_.contains(buffer.get())) fail("'" + buffer->name + "' is used where it is not allocated");
  }

  void check_offset(const Allocate& node) {
    const Expr& bytes = node.workspace == WorkspaceKind::call ? function_.call_workspace : function_.thread_workspace;
    if (!bytes.defined())
      fail("'" + node.buffer->name + "' has a place in a workspace that the function does not ask for");
    std::swap(symbols_, defined_);
    visit(node.offset);
    std::swap(symbols_, defined_);
  }

  const Function& function_;
  const std::string& after_;
  const StmtNode* at_ = nullptr;
  std::unordered_set<const ExprNode*> defined_;
  std::unordered_set<const ExprNode*> symbols_;
  std::unordered_set<const Buffer*> buffers_;
  std::unordered_set<const Buffer*> read_only_;
};

}  // namespace

void validate(const Function& function, const std::string& after) { Validator(function, after).run(); }

}  // namespace ferry::ir
