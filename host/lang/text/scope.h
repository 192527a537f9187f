// The meaning of the names in a def.
#pragma once

#include "ferry/lang/tensor.h"
#include "host/lang/text/source.h"
#include "host/lang/text/syntax.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ferry::lang {

struct Scope {
  const Source* source = nullptr;
  std::map<std::string, Expr, std::less<>> sizes;
  std::map<std::string, Expr, std::less<>> scalars;
  std::map<std::string, Tensor, std::less<>> tensors;  // the latest version of each

  std::set<std::string, std::less<>> computed;  // everything that statements of the def compute, earlier or later

  // Returns the size or int64 scalar with this name, or nothing.
  Expr size(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;
  // Throws CompileError for a tensor that only a later statement computes.
  void check_not_later(std::string_view name, std::size_t offset) const;
};

// An expression of sizes, integer scalars and numbers, as in shapes, ranges and requirements. `where` names the place
// in messages: "a shape".
Expr size_expression(const Scope& scope, const Syntax& syntax, const char* where);

}  // namespace ferry::lang
