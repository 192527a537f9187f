// The tensors that the nodes of one graph see, by name: its own, and those of the graphs around it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "host/graph/onnx/known.h"
#include "host/graph/onnx/model.h"

namespace ferry::graph::onnx {

struct StoredMatrix;

// A tensor of the ONNX graph as far as it is imported.
struct Value {
  TensorType type;
  TensorId id = kNoTensor;                            // in the graph, if it is computed there or an input
  std::shared_ptr<const ConstantData> constant = {};  // its contents, if they are all known
  KnownRef known = {};                                // the same of a small tensor; may depend on sizes
  std::string name = {};                              // a constant's name
  // The elements of a small tensor of floats that is computed from sizes when the network runs.
  KnownRef quotients = {};
  // The matrix of few bits that it is computed from, if there is one (few_bits.h).
  std::shared_ptr<const StoredMatrix> stored = {};
  // What its elements stand for, if the model has texts where ferry has numbers.
  std::shared_ptr<const Labels> labels = {};
};
Value constant_value(std::string name, const Constant& constant);

class Scope {
 public:
  // `outer` outlives this object. Functions have none.
  explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}
  // Copies the tensors of `own`, which has no outer scope.
  Scope(const Scope& own, const Scope* outer) : Scope(own) { outer_ = outer; }

  // Returns null for a tensor that no scope has, because the node that computes it was refused.
  const Value* find(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second ? &*found->second : nullptr;
    return outer_ == nullptr ? nullptr : outer_->find(name);
  }
  // Returns the type's name if it is an initializer of a type that ferry has not, and null for all others.
  const std::string* unsupported_type(const std::string& name) const {
    const Constant* found = unsupported(name);
    return found == nullptr ? nullptr : &found->unsupported_type;
  }
  // Returns such an initializer itself.
  const Constant* unsupported(const std::string& name) const {
    const auto found = unsupported_.find(name);
    if (found != unsupported_.end()) return &found->second;
    return outer_ == nullptr || values_.contains(name) ? nullptr : outer_->unsupported(name);
  }
  // Whether it is an input of a function that its call does not give.
  bool is_absent(const std::string& name) const {
    if (absent_.contains(name)) return true;
    return outer_ != nullptr && !values_.contains(name) && outer_->is_absent(name);
  }

  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  // A tensor that is not computed, because its node was refused.
  void drop(const std::string& name) { values_[name].reset(); }
  void set_absent(const std::string& name) { absent_.insert(name); }
  void add_initializer(const std::string& name, const Constant& constant) {
    if (constant.unsupported_type.empty()) {
      values_[name] = constant_value(name, constant);
    } else {
      unsupported_[name] = constant;
    }
  }

 private:
  const Scope* outer_;
  std::map<std::string, std::optional<Value>> values_;
  std::map<std::string, Constant> unsupported_;  // initializers
  std::set<std::string> absent_;
};

}  // namespace ferry::graph::onnx
