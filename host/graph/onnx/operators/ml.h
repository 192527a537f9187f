// What the importers of ai.onnx.ml share. Where the specification is silent, they compute what ONNX Runtime computes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx::ml {

// Returns the input as rows of features, [N, F], in float32 or, if it has doubles, in float64. A vector is one row.
Value rows_of(const NodeImport& node, std::size_t input = 0);

// Returns a constant of a float type.
Value floats(const NodeImport& node, DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values);
// Returns a vector of int64.
Value integers(const NodeImport& node, const std::vector<std::int64_t>& values);
// Returns the place in `keys` of each text of a tensor of texts, and the number of keys for one that is not there.
Value places_of_texts(const NodeImport& node, const std::vector<std::string>& keys, const Value& texts);
// Returns an attribute of floats, or of doubles in a tensor called NAME_as_tensor.
std::vector<double> reals_or_tensor(NodeImport& node, const std::string& name);

// Returns the floats or doubles of a tensor that is an attribute.
std::vector<double> reals_of(const NodeImport& node, const std::string& name, const Constant& tensor);

// Applies the attribute post_transform, or the one of this name, to scores, [N, C].
Value transformed(NodeImport& node, const Value& scores);
Value transformed(const NodeImport& node, const Value& scores, const std::string& transform);

// Whether the attribute post_transform is this one.
bool has_transform(NodeImport& node, const std::string& name);

// The classes that a classifier tells apart.
class Classes {
 public:
  // Reads classlabels_ints (also classlabels_int64s) and classlabels_strings, one of which must be there.
  explicit Classes(NodeImport& node);

  std::size_t count() const { return labels_ != nullptr ? labels_->texts.size() : numbers_.size(); }
  // Returns the labels for indices of classes: numbers, or the indices with the texts that they stand for.
  Value labels(const NodeImport& node, const Value& indices) const;

 private:
  std::vector<std::int64_t> numbers_;
  std::shared_ptr<const Labels> labels_;
};

}  // namespace ferry::graph::onnx::ml
