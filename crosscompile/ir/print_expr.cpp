// Prints expressions as C-like text, with as few parentheses as a reader needs.
#include "crosscompile/ir/print_context.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <charconv>
#include <cmath>

namespace ferry::ir {
namespace {

// The precedence of operations; larger binds tighter.
enum Precedence {
  kLowest,
  kChoice,
  kOr,
  kAnd,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kCall
};

struct OpText {
  const char* text;
  Precedence precedence;  // kCall: written as a function
};

OpText op_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return {" + ", kSum};
    case BinaryOp::sub: return {" - ", kSum};
    case BinaryOp::mul: return {" * ", kProduct};
    case BinaryOp::div: return {" / ", kProduct};
    case BinaryOp::mod: return {" % ", kProduct};
    case BinaryOp::min: return {"min", kCall};
    case BinaryOp::max: return {"max", kCall};
    case BinaryOp::bit_and: return {" & ", kBitAnd};
    case BinaryOp::bit_or: return {" | ", kBitOr};
    case BinaryOp::bit_xor: return {" ^ ", kBitXor};
    case BinaryOp::shl: return {" << ", kShift};
    case BinaryOp::shr: return {" >> ", kShift};
    case BinaryOp::eq: return {" == ", kCompare};
    case BinaryOp::ne: return {" != ", kCompare};
    case BinaryOp::lt: return {" < ", kCompare};
    case BinaryOp::le: return {" <= ", kCompare};
    case BinaryOp::gt: return {" > ", kCompare};
    case BinaryOp::ge: return {" >= ", kCompare};
    case BinaryOp::logical_and: return {" && ", kAnd};
    case BinaryOp::logical_or: return {" || ", kOr};
  }
  return {" ? ", kLowest};
}

const char* reduce_text(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return "reduce_sum";
    case ReduceOp::prod: return "reduce_prod";
    case ReduceOp::min: return "reduce_min";
    case ReduceOp::max: return "reduce_max";
    case ReduceOp::any: return "reduce_any";
    case ReduceOp::all: return "reduce_all";
    case ReduceOp::user: break;
  }
  return "reduce";
}

// Prints a suffix that tells the type: C's suffix where there is one; f64 has none.
std::string float_text(DType type, double value) {
  if (!std::isfinite(value)) {
    const char* what = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    return std::string(dtype_name(type)) + "(" + what + ")";
  }
  char buffer[40];
  // The shortest digits that denote this value in its own type.
  const auto end = type == DType::f64 ? std::to_chars(buffer, buffer + sizeof buffer, value)
                                      : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (type == DType::f32) text += "f";
  if (Type(type).is_narrow_float()) text += dtype_name(type);
  return text;
}

class ExprPrinter : public Visitor {
 public:
  explicit ExprPrinter(PrintNames& names) : names_(names) {}
  std::string out;

  void print(const Expr& expr, Precedence around = kLowest) {
    if (!expr.defined()) {
      out += "nothing";
      return;
    }
    const Precedence before = around_;
    around_ = around;
    visit(expr);
    around_ = before;
  }

  void list(const std::vector<Expr>& exprs) {
    for (std::size_t i = 0; i < exprs.size(); ++i) {
      if (i > 0) out += ", ";
      print(exprs[i]);
    }
  }

  void access(const Buffer& buffer, const std::vector<Expr>& indices) {
    out += names_.of(buffer);
    if (indices.empty()) return;
    out += '[';
    list(indices);
    out += ']';
  }

 protected:
  void visit_node(const IntImm& node) override {
    if (node.type.is_bool()) {
      out += node.value != 0 ? "true" : "false";
      return;
    }
    const bool negative = node.type.is_signed_int() && node.value < 0;
    const bool wrapped = negative && around_ > kSum;
    if (wrapped) out += '(';
    out += node.type == Type(DType::u64) ? std::to_string(static_cast<std::uint64_t>(node.value))
                                         : std::to_string(node.value);
    if (node.type != kIndex) out += dtype_name(node.type.code);
    if (wrapped) out += ')';
  }

  void visit_node(const FloatImm& node) override {
    const bool wrapped = std::signbit(node.value) && std::isfinite(node.value) && around_ > kSum;
    if (wrapped) out += '(';
    out += float_text(node.type.code, node.value);
    if (wrapped) out += ')';
  }

  void visit_node(const Var& node) override { out += names_.of(node); }

  void visit_node(const Cast& node) override {
    out += to_text(node.type);
    in_parentheses(node.value);
  }

  void visit_node(const Unary& node) override {
    const bool wrapped = around_ > kUnary;
    if (wrapped) out += '(';
    switch (node.op) {
      case UnaryOp::neg: out += '-'; break;
      case UnaryOp::bit_not: out += '~'; break;
      case UnaryOp::logical_not: out += '!'; break;
    }
    print(node.value, kCall);
    if (wrapped) out += ')';
  }

  void visit_node(const Binary& node) override {
    const OpText op = op_text(node.op);
    if (op.precedence == kCall) {
      out += op.text;
      out += '(';
      print(node.left);
      out += ", ";
      print(node.right);
      out += ')';
      return;
    }
    // Bitwise operations and shifts among other operations, and && inside ||, get parentheses, because few readers know
    // their precedence.
    const bool unfamiliar = op.precedence >= kBitOr && op.precedence <= kShift;
    const bool wrapped =
        around_ > op.precedence || (unfamiliar && around_ > kAnd) || (around_ == kOr && op.precedence == kAnd);
    if (wrapped) out += '(';
    print(node.left, op.precedence);
    out += op.text;
    print(node.right, chains(node) ? op.precedence : static_cast<Precedence>(op.precedence + 1));
    if (wrapped) out += ')';
  }

  void visit_node(const Select& node) override { function("select", {node.condition, node.on_true, node.on_false}); }

  void visit_node(const IfThenElse& node) override {
    const bool wrapped = around_ > kLowest;
    if (wrapped) out += '(';
    print(node.condition, kOr);
    out += " ? ";
    print(node.on_true, kOr);
    out += " : ";
    print(node.on_false, kOr);
    if (wrapped) out += ')';
  }

  void visit_node(const Load& node) override {
    if (node.mask) {
      out += "where(";
      print(node.mask);
      out += ", ";
    }
    access(*node.buffer, node.indices);
    if (node.mask) out += ')';
  }

  void visit_node(const Call& node) override {
    const std::string name = to_text(node.callee);
    function(node.callee.op == CallOp::bitcast ? name + "_" + to_text(node.type) : name, node.arguments);
  }

  void visit_node(const Reduce& node) override {
    out += node.reducer->name + "(";
    if (node.sources.size() > 1) out += '(';
    list(node.sources);
    if (node.sources.size() > 1) out += ")." + std::to_string(node.component);
    for (const Axis& axis : node.axes) {
      out += ", ";
      print(axis.var);
      out += " in ";
      print(axis.min, kSum);
      out += ":";
      print(axis.min + axis.extent, kSum);
    }
    if (node.condition) {
      out += ", where ";
      print(node.condition);
    }
    if (!node.init.empty()) {
      out += ", from ";
      list(node.init);
    }
    out += ')';
  }

  void visit_node(const Let& node) override {
    const bool wrapped = around_ > kLowest;
    if (wrapped) out += '(';
    out += "let ";
    print(node.var);
    out += " = ";
    print(node.value);
    out += " in ";
    print(node.body);
    names_.leave(node.var.get());
    if (wrapped) out += ')';
  }

  void visit_node(const Ramp& node) override {
    out += "ramp(";
    print(node.base);
    out += ", ";
    print(node.stride);
    out += ", " + std::to_string(node.type.lanes) + ")";
  }

  void visit_node(const Broadcast& node) override {
    out += "x" + std::to_string(node.type.lanes);
    in_parentheses(node.value);
  }

  void visit_node(const VectorReduce& node) override { function(reduce_text(node.op), {node.value}); }

 private:
  // Returns whether a op (b op c) equals (a op b) op c.
  static bool chains(const Binary& node) {
    if (node.op == BinaryOp::logical_and || node.op == BinaryOp::logical_or) return true;
    const auto* right = node.right.as<Binary>();
    if (right == nullptr || !node.type.is_int()) return false;
    if (node.op == BinaryOp::add) return right->op == BinaryOp::add || right->op == BinaryOp::sub;
    return node.op == BinaryOp::mul && right->op == BinaryOp::mul;
  }

  void in_parentheses(const Expr& expr) {
    out += '(';
    print(expr);
    out += ')';
  }

  void function(const std::string& name, const std::vector<Expr>& arguments) {
    out += name;
    out += '(';
    list(arguments);
    out += ')';
  }

  PrintNames& names_;
  Precedence around_ = kLowest;
};

}  // namespace

const std::string& PrintNames::of(const void* identity, const std::string& wanted) {
  const auto [entry, is_new] = names_.try_emplace(identity);
  if (is_new) {
    std::string name = wanted.empty() ? "unnamed" : wanted;
    for (int number = 1; !taken_.insert(name).second; ++number) name = wanted + "_" + std::to_string(number);
    entry->second = std::move(name);
  }
  return entry->second;
}

void PrintNames::leave(const void* identity) {
  const auto entry = names_.find(identity);
  if (entry == names_.end()) return;
  taken_.erase(entry->second);
  names_.erase(entry);
}

std::string expr_text(const Expr& expr, PrintNames& names) {
  ExprPrinter printer(names);
  printer.print(expr);
  return std::move(printer.out);
}

std::string access_text(const Buffer& buffer, const std::vector<Expr>& indices, PrintNames& names) {
  ExprPrinter printer(names);
  printer.access(buffer, indices);
  return std::move(printer.out);
}

std::string to_text(const Expr& expr) {
  PrintNames names;
  return expr_text(expr, names);
}

}  // namespace ferry::ir
