// Shared by the two halves of the printer: one name for each variable and buffer, and expressions as text.
#pragma once

#include "crosscompile/ir/expr.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace ferry::ir {

// Assigns unique names: a second variable or buffer of the same name is called name_1, the next name_2, and so on, in
// the order in which they occur. A name becomes free when its owner goes out of scope.
class PrintNames {
 public:
  const std::string& of(const void* identity, const std::string& wanted);
  const std::string& of(const Var& var) { return of(&var, var.name); }
  const std::string& of(const Buffer& buffer) { return of(&buffer, buffer.name); }
  void leave(const void* identity);

 private:
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
};

std::string expr_text(const Expr& expr, PrintNames& names);
// Returns "A[i, j]", for example.
std::string access_text(const Buffer& buffer, const std::vector<Expr>& indices, PrintNames& names);

}  // namespace ferry::ir
