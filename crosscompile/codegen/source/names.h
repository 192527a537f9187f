// One identifier for each variable and buffer of a printed function. Names are kept where possible; names that are not
// identifiers, or that the language or a visible declaration uses, are changed.
#pragma once

#include "crosscompile/ir/buffer.h"
#include "crosscompile/ir/expr.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ferry::codegen::source {

// Makes an identifier: "C.local" becomes "C_local", "2x" becomes "x2x".
std::string identifier(std::string_view wanted);
// Returns whether it is a word of C, CUDA C or OpenCL C, or a function or macro that printed code uses.
bool is_reserved(const std::string& word);

class Names {
 public:
  Names() { open(); }

  // Opens a scope; close() ends it and removes what was declared in it.
  void open() { scopes_.emplace_back(); }
  void close();

  // Declares a name. Declaring an identity twice at the same time is an internal error.
  std::string declare(const void* identity, const std::string& wanted);
  std::string declare(const ir::Expr& var) { return declare(var.get(), var.as<ir::Var>()->name); }
  // Declares an identifier for something that has no node.
  std::string fresh(const std::string& wanted) { return declare(nullptr, wanted); }
  bool knows(const void* identity) const { return names_.contains(identity); }
  const std::string& of(const void* identity, const std::string& what) const;
  const std::string& of(const ir::Var& var) const { return of(&var, var.name); }
  const std::string& of(const ir::Buffer& buffer) const { return of(&buffer, buffer.name); }
  // Allows the identity to be declared again, while its identifier stays taken until its scope ends.
  void forget(const void* identity) { names_.erase(identity); }

 private:
  struct Scope {
    std::vector<const void*> identities;
    std::vector<std::string> identifiers;
  };
  std::vector<Scope> scopes_;
  std::unordered_map<const void*, std::string> names_;
  std::unordered_set<std::string> taken_;
};

}  // namespace ferry::codegen::source
