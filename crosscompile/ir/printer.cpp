// Prints statements and whole functions.
#include "crosscompile/ir/printer.h"

#include "crosscompile/ir/print_context.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <unordered_set>

namespace ferry::ir {
namespace {

const char* scope_text(Scope scope) {
  switch (scope) {
    case Scope::parameter: return "parameter";
    case Scope::global: return "global";
    case Scope::local: return "local";
    case Scope::shared: return "shared";
  }
  return "";
}

const char* direction_text(Direction direction) {
  switch (direction) {
    case Direction::in: return "in";
    case Direction::out: return "out";
    case Direction::inout: return "inout";
  }
  return "";
}

class StmtPrinter : public Visitor {
 public:
  StmtPrinter(PrintNames& names, const std::vector<std::string>& messages) : names_(names), messages_(messages) {}
  std::string out;
  int indent = 0;

  void line(const std::string& text) {
    out.append(static_cast<std::size_t>(indent) * 2, ' ');
    out += text;
    out += '\n';
  }

  std::string text(const Expr& expr) { return expr_text(expr, names_); }

  std::string declaration(const Buffer& buffer) {
    std::string result = std::string(dtype_name(buffer.dtype)) + " " + access_text(buffer, buffer.shape, names_);
    if (!buffer.strides.empty()) {
      result += " strides (";
      for (std::size_t i = 0; i < buffer.strides.size(); ++i) result += (i > 0 ? ", " : "") + text(buffer.strides[i]);
      result += ")";
    }
#define FERRY_PRINT(name, text) \
  if (buffer.storage.name) result += " " text;
    FERRY_IR_STORAGE_ATTRIBUTES(FERRY_PRINT)
#undef FERRY_PRINT
    return result;
  }

 protected:
  void visit_node(const Store& node) override {
    const std::string target = access_text(*node.buffer, node.indices, names_);
    const std::string prefix = node.mask.defined() ? "where (" + text(node.mask) + ") " : "";
    if (const auto* sum = node.value.as<Binary>(); sum != nullptr && updates(node, *sum)) {
      line(prefix + target + (sum->op == BinaryOp::add ? " += " : " *= ") + text(sum->right) + ";");
    } else {
      line(prefix + target + " = " + text(node.value) + ";");
    }
  }

  // Returns the end of the loop: `end` itself when the extent is end - min.
  static Expr end_of(const For& node) {
    const auto* difference = node.extent.as<Binary>();
    if (difference != nullptr && difference->op == BinaryOp::sub && equal(difference->right, node.min))
      return difference->left;
    return node.min + node.extent;
  }

  void visit_node(const For& node) override {
    const std::string var = text(node.var);
    const std::string kind = kind_name(node.for_kind);
    line(kind + (kind.empty() ? "" : " ") + "for (" + var + " = " + text(node.min) + "; " + var + " < " +
         text(end_of(node)) + "; ++" + var + ") {");
    braced(node.body);
    line("}");
    names_.leave(node.var.get());
  }

  void visit_node(const Block& node) override {
    for (std::size_t i = 0; i < node.body.size(); ++i) {
      const StmtKind kind = node.body[i].kind();
      const bool declares = kind == StmtKind::Allocate || kind == StmtKind::LetStmt;
      // A name whose scope ends before the block does gets braces.
      if (declares && i + 1 < node.body.size()) {
        line("{");
        braced(node.body[i]);
        line("}");
      } else {
        visit(node.body[i]);
      }
    }
  }

  void visit_node(const If& node) override {
    line("if (" + text(node.condition) + ") {");
    const If* current = &node;
    while (true) {
      braced(current->on_true);
      if (!current->on_false.defined()) break;
      const If* next = current->on_false.as<If>();
      if (next == nullptr) {
        line("} else {");
        braced(current->on_false);
        break;
      }
      line("} else if (" + text(next->condition) + ") {");
      current = next;
    }
    line("}");
  }

  void visit_node(const Allocate& node) override {
    std::string place;
    if (node.offset.defined()) {
      place = std::string("  // ") + (node.workspace == WorkspaceKind::call ? "call" : "thread") + " workspace + " +
              text(node.offset);
    }
    line(std::string(scope_text(node.buffer->scope)) + " " + declaration(*node.buffer) + ";" + place);
    visit(node.body);
    names_.leave(node.buffer.get());
  }

  void visit_node(const LetStmt& node) override {
    line(to_text(node.var.type()) + " " + text(node.var) + " = " + text(node.value) + ";");
    visit(node.body);
    names_.leave(node.var.get());
  }

  void visit_node(const Assert& node) override {
    const std::string message = node.message < messages_.size() ? '"' + messages_[node.message] + '"'
                                                                : "message " + std::to_string(node.message);
    line("assert(" + text(node.condition) + ", " + message + ");");
  }

  void visit_node(const Evaluate& node) override { line(text(node.value) + ";"); }

  void visit_node(const InstructionStmt& node) override {
    std::string arguments;
    for (const Expr& argument : node.arguments) arguments += (arguments.empty() ? "" : ", ") + text(argument);
    line(instruction_name(node.instruction) + ("(" + arguments) + ") {");
    braced(node.definition);
    line("}");
  }

 private:
  void braced(const Stmt& body) {
    ++indent;
    visit(body);
    --indent;
  }

  // Returns whether the value is A[i] + x or A[i] * x, for a store to A[i].
  static bool updates(const Store& store, const Binary& value) {
    if (value.op != BinaryOp::add && value.op != BinaryOp::mul) return false;
    const auto* load = value.left.as<Load>();
    if (load == nullptr || load->buffer != store.buffer || load->indices.size() != store.indices.size()) return false;
    for (std::size_t i = 0; i < store.indices.size(); ++i) {
      if (!equal(load->indices[i], store.indices[i])) return false;
    }
    return equal(load->mask, store.mask);
  }

  PrintNames& names_;
  const std::vector<std::string>& messages_;
};

std::string signature(const Function& function, PrintNames& names, StmtPrinter& printer) {
  // Symbols take their plain names first, so that a local variable of the same name gets the number.
  for (const Expr& symbol : function.symbols) names.of(*symbol.as<Var>());
  std::string text = function.name + "(";
  std::unordered_set<const ExprNode*> scalars;
  const char* separator = "";
  for (const FunctionParameter& parameter : function.parameters) {
    text += separator;
    separator = ", ";
    if (parameter.kind == ParameterKind::tensor) {
      text += std::string(direction_text(parameter.direction)) + " " + printer.declaration(*parameter.buffer);
    } else {
      text += to_text(parameter.scalar.type()) + " " + printer.text(parameter.scalar);
      scalars.insert(parameter.scalar.get());
    }
  }
  separator = "; ";
  for (const Expr& symbol : function.symbols) {
    if (scalars.contains(symbol.get())) continue;
    text += separator + to_text(symbol.type()) + " " + printer.text(symbol);
    separator = ", ";
  }
  return text + ")";
}

}  // namespace

std::string to_text(const Stmt& stmt) {
  PrintNames names;
  const std::vector<std::string> messages;
  StmtPrinter printer(names, messages);
  printer.visit(stmt);
  return std::move(printer.out);
}

std::string to_text(const Function& function) {
  PrintNames names;
  StmtPrinter printer(names, function.messages);
  printer.line(signature(function, names, printer) + " {");
  printer.indent = 1;
  for (const Requirement& requirement : function.requirements) {
    printer.line("require(" + printer.text(requirement.condition) + ", \"" + requirement.message + "\");");
  }
  const auto workspace = [&](const char* kind, const Expr& bytes) {
    if (bytes.defined()) printer.line(std::string("// ") + kind + " workspace: " + printer.text(bytes) + " bytes");
  };
  workspace("call", function.call_workspace);
  workspace("thread", function.thread_workspace);
  printer.visit(function.body);
  printer.indent = 0;
  printer.line("}");
  return std::move(printer.out);
}

}  // namespace ferry::ir
