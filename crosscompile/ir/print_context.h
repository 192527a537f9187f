// What the printer's two halves share: one name for each variable and buffer, and expressions as text.
#pragma once

#include "crosscompile/ir/expr.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace ferry::ir {

// A second thing of the same name is called name_1, the next name_2, and so on, in the order in which they are met.
// What is out of scope gives its name back.
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
// "A[i, j]"
std::string access_text(const Buffer& buffer, const std::vector<Expr>& indices, PrintNames& names);

}  // namespace ferry::ir
