// One identifier for each variable and buffer of a printed function. Names are kept where they can be; what is no
// identifier, or taken by the language or by something that is still visible, is changed.
#pragma once

#include "crosscompile/ir/buffer.h"
#include "crosscompile/ir/expr.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ferry::codegen::source {

// "C.local" becomes "C_local", "2x" becomes "x2x".
std::string identifier(std::string_view wanted);
// Words of C, CUDA C and OpenCL C, and the functions and macros that printed code uses.
bool is_reserved(const std::string& word);

class Names {
 public:
  Names() { open(); }

  // What is declared from here on goes away with the matching close().
  void open() { scopes_.emplace_back(); }
  void close();

  // Two with one identity at the same time are a mistake of ours.
  std::string declare(const void* identity, const std::string& wanted);
  std::string declare(const ir::Expr& var) { return declare(var.get(), var.as<ir::Var>()->name); }
  // An identifier for something that has no node.
  std::string fresh(const std::string& wanted) { return declare(nullptr, wanted); }
  bool knows(const void* identity) const { return names_.contains(identity); }
  const std::string& of(const void* identity, const std::string& what) const;
  const std::string& of(const ir::Var& var) const { return of(&var, var.name); }
  const std::string& of(const ir::Buffer& buffer) const { return of(&buffer, buffer.name); }
  // The identity may be declared again, while its identifier stays taken until its scope ends.
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
