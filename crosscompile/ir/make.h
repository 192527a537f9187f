// Helpers shared by the make() functions.
#pragma once

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/stmt.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace ferry::ir {

inline void expect(bool holds, const char* what) {
  if (!holds) throw InternalError(what);
}

template <class Node, class Child>
void deepen(Node& node, const Child* child) {
  if (child == nullptr) return;
  node.depth = std::max(node.depth, child->depth + 1);
  if (node.depth > kMaxDepth) {
    throw CompileError("expected at most " + std::to_string(kMaxDepth) + " nested operations and statements, got more");
  }
}

// Allocates a node of depth 1; deepen_all() makes it one deeper than its deepest child.
template <class T>
std::shared_ptr<T> new_node() {
  auto node = std::make_shared<T>();
  node->kind = T::kKind;
  node->depth = 1;
  return node;
}

template <class T, class Child, class... Rest>
void deepen_all(T& node, const Child& child, const Rest&... rest) {
  if constexpr (requires { child.get(); }) {
    deepen(node, child.get());
  } else {
    for (const auto& one : child) deepen(node, one.get());
  }
  if constexpr (sizeof...(rest) > 0) deepen_all(node, rest...);
}

// Checks that indices fit the buffer (one per dimension, or one into the whole), are kIndex and agree in lanes with
// each other and the mask; returns the number of lanes.
std::uint32_t check_access(const BufferRef& buffer, const std::vector<Expr>& indices, const Expr& mask);

}  // namespace ferry::ir
