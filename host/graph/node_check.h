// Checks of a node for shape inference. Each throws NodeError "node 'conv1' (conv): expected X, got Y".
#pragma once

#include "ferry/error.h"
#include "host/graph/graph.h"

#include <string>

namespace ferry::graph {

class NodeError : public CompileError {
 public:
  NodeError(const std::string& node, std::string detail) : CompileError(node + detail), detail_(std::move(detail)) {}
  // Returns the message without the node: "expected X, got Y".
  const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

class NodeCheck {
 public:
  // Sizes that are equal only for some values of the symbols are added to `undecided`, or refused without it.
  explicit NodeCheck(const Node& node, std::vector<EqualSizes>* undecided = nullptr)
      : node_(node), undecided_(undecided) {}

  [[noreturn]] void fail(const std::string& expected, const std::string& got) const;
  // got() is called only for the message.
  void expect(bool holds, const std::string& expected, const auto& got) const {
    if (!holds) fail(expected, got());
  }
  void input_count(std::size_t count) const;
  void rank(const std::string& what, const Shape& shape, std::size_t rank) const;
  void equal(const std::string& what, const Size& size, const std::string& other_what, const Size& other) const;
  // Whether two sizes are equal, or undecided and noted as such.
  bool is_equal(const std::string& what, const Size& size, const std::string& other_what, const Size& other) const;
  std::vector<EqualSizes>* undecided() const { return undecided_; }
  void same_dtype(DType first, DType other) const;
  void dimension(std::size_t dimension, const Shape& shape) const;

  // Returns the node's attributes; throws InternalError if they are not those of its operator.
  template <class T>
  const T& attributes() const {
    const T* attributes = std::get_if<T>(&node_.attributes);
    if (attributes == nullptr) fail_attributes();
    return *attributes;
  }

 private:
  [[noreturn]] void fail_attributes() const;

  const Node& node_;
  std::vector<EqualSizes>* undecided_;
};

}  // namespace ferry::graph
