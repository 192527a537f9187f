// Operators of ai.onnx.ml that prepare features.
#include <cmath>
#include <numeric>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/ml.h"

namespace ferry::graph::onnx {
namespace {

// Returns numbers that apply to each feature, or one that applies to all.
Value for_features(const NodeImport& node, const std::string& name, DType dtype, const std::vector<double>& values,
                   const Shape& shape) {
  const auto count = static_cast<std::int64_t>(values.size());
  node.expect(count == 1 || (!shape.empty() && shape.back() == count), name + " for one or all features",
              [&] { return std::to_string(count) + " for " + to_text(shape); });
  return ml::floats(node, dtype, {count}, values);
}

}  // namespace

void import_scaler(NodeImport& node) {
  const NodeOps of(node);
  const Value x = node.cast(node.input(0), DType::f32);
  const Shape& shape = x.type.shape;
  const std::vector<double> offset = node.reals("offset"), scale = node.reals("scale");
  Value result = x;
  if (!offset.empty()) result = of.sub(result, for_features(node, "offsets", DType::f32, offset, shape));
  if (!scale.empty()) result = of.mul(result, for_features(node, "scales", DType::f32, scale, shape));
  node.output(0, result);
}

// Rows whose norm is 0 stay as they are.
void import_normalizer(NodeImport& node) {
  const NodeOps of(node);
  const Value x = node.cast(node.input(0), DType::f32);
  const Shape& shape = x.type.shape;
  node.expect(!shape.empty(), "rows of features", [&] { return to_text(shape); });
  const std::size_t last = shape.size() - 1;
  const std::string norm = node.text("norm", "MAX");
  node.expect(norm == "MAX" || norm == "L1" || norm == "L2", "the norm MAX, L1 or L2", [&] { return norm; });
  Value size = norm == "MAX"  ? of.reduce(Operator::reduce_max, x, {last})
               : norm == "L1" ? of.reduce(Operator::reduce_sum, of.abs(x), {last})
                              : of.sqrt(of.reduce(Operator::reduce_sum, of.mul(x, x), {last}));
  size = of.where(of.equal(size, 0), of.number(size, 1), size);
  node.output(0, of.div(x, size));
}

void import_binarizer(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Value is_above = of.less(of.number(x, node.real("threshold", 0)), x);
  node.output(0, node.cast(is_above, x.type.dtype));
}

void import_imputer(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const bool has_floats = is_float(x.type.dtype);
  std::vector<double> values = node.reals("imputed_value_floats");
  for (const std::int64_t value : node.integers("imputed_value_int64s", std::vector<std::int64_t>()))
    if (!has_floats) values.push_back(static_cast<double>(value));
  const double replaced_float = node.real("replaced_value_float", 0);
  const std::int64_t replaced_integer = node.integer("replaced_value_int64", 0);
  const auto count = static_cast<std::int64_t>(values.size());
  node.expect(count == 1 || (!x.type.shape.empty() && x.type.shape.back() == count),
              "imputed values for one or all features", [&] { return std::to_string(count); });
  Value imputed = has_floats ? ml::floats(node, x.type.dtype, {count}, values) : Value();
  if (!has_floats) {
    std::vector<Size> integers;
    for (const double value : values) integers.emplace_back(static_cast<std::int64_t>(value));
    imputed = node.cast(node.known(DType::i64, std::move(integers)), x.type.dtype);
  }
  const Value is_missing = has_floats && std::isnan(replaced_float)
                               ? of.logical_not(of.equal(x, x))
                               : of.equal(x, has_floats ? replaced_float : static_cast<double>(replaced_integer));
  node.output(0, of.where(is_missing, imputed, x));
}

// Takes entries of the last dimension. The first input may be texts, of which there is an index for each result.
void import_array_feature_extractor(NodeImport& node) {
  const NodeOps of(node);
  const Value indices = node.cast(node.input(1), DType::i64);
  const Size count = element_count(indices.type.shape);
  if (const std::vector<std::string>* texts = node.texts_in(0)) {
    Value labels = of.reshape(indices, {1, count});
    labels.labels = std::make_shared<const Labels>(Labels{*texts});
    return node.output(0, labels);
  }
  const Value& x = node.input(0);
  const Value rows = x.type.shape.size() == 1 ? of.reshape(x, {1, x.type.shape[0]}) : x;
  node.expect(!rows.type.shape.empty(), "a tensor of rank 1 or more", [&] { return to_text(x.type); });
  node.output(0, of.gather(rows, of.reshape(indices, {count}), rows.type.shape.size() - 1));
}

void import_feature_vectorizer(NodeImport& node) {
  const NodeOps of(node);
  node.ignore({"inputdimensions"});
  std::vector<Value> parts;
  for (std::size_t i = 0; i < node.input_count(); ++i) parts.push_back(node.cast(ml::rows_of(node, i), DType::f32));
  node.output(0, of.concat(parts, 1));
}

// A value that is no category has zeros only.
void import_one_hot_encoder(NodeImport& node) {
  const NodeOps of(node);
  node.ignore({"zeros"});
  const Value& x = node.input(0);
  const bool has_texts = x.labels != nullptr;
  node.expect(node.has(has_texts ? "cats_strings" : "cats_int64s"),
              has_texts ? "categories that are texts" : "categories that are integers",
              [&] { return has_texts ? "integers" : "texts"; });
  std::vector<std::int64_t> categories = node.integers("cats_int64s", std::vector<std::int64_t>());
  const std::vector<std::string> texts = node.texts("cats_strings");
  Value category = x;
  if (has_texts) {
    categories.resize(texts.size());
    std::iota(categories.begin(), categories.end(), 0);
    category = ml::places_of_texts(node, texts, x);
  }
  Shape shape = x.type.shape;
  shape.emplace_back(1);
  const Value value = of.reshape(node.cast(category, DType::i64), shape);
  node.output(0, node.cast(of.equal(value, ml::integers(node, categories)), DType::f32));
}

}  // namespace ferry::graph::onnx
