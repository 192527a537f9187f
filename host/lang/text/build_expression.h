// Builds typed expressions from the syntax of a statement.
#pragma once

#include "host/lang/text/scope.h"

#include <utility>
#include <vector>

namespace ferry::lang {

// An occurrence of a tensor element being read.
struct Use {
  Expr load;
  const Syntax* syntax = nullptr;  // the call; null when the load does not come from the text
  // The load happens only where all of these hold.
  std::vector<Expr> guards;
};

struct Index {
  Name name;  // the first occurrence
  Expr var;
};

class ExpressionBuilder {
 public:
  // Unknown names become indices when `indices_allowed`.
  ExpressionBuilder(const Scope& scope, bool indices_allowed) : scope_(scope), indices_allowed_(indices_allowed) {}

  // Elements of the tensor with this name are those of `self`.
  void set_self(std::string_view name, Tensor self) {
    self_name_ = name;
    self_ = std::move(self);
  }
  // Elements of the tensor with this name are bools, or literals, which take any type of numbers.
  void set_unknown_self(std::string_view name, bool is_bool) {
    self_name_ = name;
    is_self_bool_ = is_bool;
  }
  // Returns the index of this name, made on first use.
  Expr index(const Name& name);
  // A literal on its own gets its default type: int, or int64 when it does not fit, or float.
  Expr build(const Syntax& syntax) { return settle(value(syntax)); }
  // Like build() above, but a literal takes the given type.
  Expr build(const Syntax& syntax, DType type);
  const std::vector<Use>& uses() const { return uses_; }
  const std::vector<Index>& indices() const { return indices_; }

 private:
  // A number in the text is an untyped literal until it meets a typed operand, whose type it takes. So 0.1 is exact
  // beside a double and fits beside a half.
  using Value = ir::ExprOrLiteral;

  // Whether elements of the statement's own tensor stand for numbers of any type.
  bool is_self_unknown() const { return !self_name_.empty() && self_.buffer() == nullptr; }
  // Returns a literal of the same kind, an integer or a float.
  static Value unknown_like(const Expr& value);
  static Expr settle(const Value& value);
  // Converts all values to a common type; if all are literals, each has its default type first.
  static std::vector<Expr> together(const std::vector<Value>& values);
  Value value(const Syntax& syntax);
  Value number(const Syntax& syntax) const;
  Value name(const Syntax& syntax);
  Value unary(const Syntax& syntax);
  Value binary(const Syntax& syntax);
  Value choice(const Syntax& syntax);
  Value choose(Expr condition, const Syntax& on_true, const Syntax& on_false);
  Value call(const Syntax& syntax);
  Value element(const Syntax& syntax, const Tensor& tensor);
  Value self_element(const Syntax& syntax);
  Value builtin(const Syntax& syntax);
  Expr condition(const Syntax& syntax);
  // The conjunction (`all`) or disjunction of the parts; each part is evaluated only where those before it do not
  // decide.
  Value conditions(bool all, const std::vector<Syntax>& parts);
  Value guarded(const Expr& guard, const Syntax& syntax);

  const Scope& scope_;
  bool indices_allowed_;
  std::string_view self_name_;
  bool is_self_bool_ = false;
  Tensor self_;
  std::vector<Index> indices_;
  std::vector<Use> uses_;
  std::vector<Expr> guards_;
};

}  // namespace ferry::lang
