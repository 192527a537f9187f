// Gives the expressions of a statement their meaning and types.
#pragma once

#include "host/lang/scope.h"

#include <utility>
#include <vector>

namespace ferry::lang {

// A place where a tensor is read.
struct Use {
  Expr load;
  const Syntax* syntax = nullptr;  // the call; null when the place is not in the text
  // It is read only where all of these hold.
  std::vector<Expr> guards;
};

struct Index {
  Name name;  // where it first occurs
  Expr var;
};

class ExpressionBuilder {
 public:
  // Names that mean nothing else become indices when `indices_allowed`.
  ExpressionBuilder(const Scope& scope, bool indices_allowed) : scope_(scope), indices_allowed_(indices_allowed) {}

  // The index of this name, made on first use.
  Expr index(const Name& name);
  // A literal alone gets its own type: int, or int64 when it does not fit, and float.
  Expr build(const Syntax& syntax) { return settle(value(syntax)); }
  // The same, but a literal takes the given type.
  Expr build(const Syntax& syntax, DType type);
  const std::vector<Use>& uses() const { return uses_; }
  const std::vector<Index>& indices() const { return indices_; }

 private:
  // A number as written is a literal, which takes the type of what it meets, so 0.1 is exact beside a double and fits
  // beside a half.
  using Value = ir::ExprOrLiteral;

  static Expr settle(const Value& value);
  // All in one type; literals among themselves get the type that they have alone.
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
  Value builtin(const Syntax& syntax);
  Expr condition(const Syntax& syntax);
  // All of them, or any; each looked at only where those before it do not decide.
  Value conditions(bool all, const std::vector<Syntax>& parts);
  Value guarded(const Expr& guard, const Syntax& syntax);

  const Scope& scope_;
  bool indices_allowed_;
  std::vector<Index> indices_;
  std::vector<Use> uses_;
  std::vector<Expr> guards_;
};

}  // namespace ferry::lang
