#include "host/graph/onnx/operators/ml.h"

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>

namespace ferry::graph::onnx::ml {
namespace {

// The inverse of the error function by S. Winitzki's formula (2008), whose error is below 0.002.
Value inverse_erf(const NodeOps& of, const Value& x) {
  constexpr double kA = 0.147;
  const Value log = of.log(of.mul(of.sub(1, x), of.add(x, 1)));
  const Value v = of.add(of.mul(log, 0.5), 2 / (std::numbers::pi * kA));
  const Value root = of.sqrt(of.sub(of.sqrt(of.sub(of.mul(v, v), of.mul(log, 1 / kA))), v));
  return of.where(of.less(x, 0), of.neg(root), root);
}

// A softmax that leaves scores of 0 out.
Value softmax_zero(const NodeOps& of, const Value& x) {
  constexpr double kZero = 1e-7;
  const Value most = of.reduce(Operator::reduce_max, x, {1});
  const Value power = of.exp(of.sub(x, most)), is_counted = of.less(of.number(x, kZero), of.abs(x));
  const Value sum = of.reduce(Operator::reduce_sum, of.where(is_counted, power, of.number(x, 0)), {1});
  return of.div(of.where(is_counted, power, of.mul(x, of.exp(of.neg(most)))), sum);
}

}  // namespace

Value rows_of(const NodeImport& node, std::size_t input) {
  const NodeOps of(node);
  const Value& x = node.input(input);
  const Shape& shape = x.type.shape;
  node.expect(shape.size() == 1 || shape.size() == 2, "rows of features", [&] { return to_text(x.type); });
  const Value floats = node.cast(x, x.type.dtype == DType::f64 ? DType::f64 : DType::f32);
  return shape.size() == 2 ? floats : of.reshape(floats, {1, shape[0]});
}

Value floats(const NodeImport& node, DType dtype, std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Known contents;
  for (const double value : values) contents.reals.push_back(rounded(dtype, value));
  if (values.size() <= kMaxKnown) return node.known({dtype, Shape(shape.begin(), shape.end())}, std::move(contents));
  // Large ones count as weights of the file do, which they are made of.
  auto data = std::make_shared<ConstantData>(*bytes_of(dtype, contents));
  return constant_value(node.op(), {dtype, std::move(shape), std::move(data)});
}

Value integers(const NodeImport& node, const std::vector<std::int64_t>& values) {
  if (values.size() <= kMaxKnown) return node.known(DType::i64, {values.begin(), values.end()});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  const auto owner = std::make_shared<std::vector<std::uint8_t>>(bytes, bytes + values.size() * sizeof values[0]);
  return constant_value(node.op(), {DType::i64,
                                    {static_cast<std::int64_t>(values.size())},
                                    std::make_shared<ConstantData>(ConstantData{*owner, owner})});
}

std::vector<double> reals_or_tensor(NodeImport& node, const std::string& name) {
  const std::string in_tensor = name + "_as_tensor";
  const AttributeValue* value = node.attribute(in_tensor);
  if (value == nullptr) return node.reals(name);
  node.ignore({name.c_str()});
  const auto* constant = std::get_if<Constant>(value);
  node.expect(constant != nullptr, "the attribute '" + in_tensor + "' with a tensor", [] { return "another value"; });
  return reals_of(node, in_tensor, *constant);
}

Value places_of_texts(const NodeImport& node, const std::vector<std::string>& keys, const Value& texts) {
  std::map<std::string, std::int64_t> place_of;
  for (std::size_t i = 0; i < keys.size(); ++i) place_of.emplace(keys[i], i);
  const auto count = static_cast<std::int64_t>(keys.size());
  std::vector<std::int64_t> places;
  for (const std::string& text : texts.labels->texts) {
    const auto found = place_of.find(text);
    places.push_back(found == place_of.end() ? count : found->second);
  }
  return NodeOps(node).gather(integers(node, places), texts, 0);
}

std::vector<double> reals_of(const NodeImport& node, const std::string& name, const Constant& tensor) {
  const bool is_double = tensor.dtype == DType::f64;
  node.expect(tensor.data != nullptr && (is_double || tensor.dtype == DType::f32),
              "the attribute '" + name + "' with floats or doubles",
              [&] { return tensor.data == nullptr ? tensor.unsupported_type : dtype_name(tensor.dtype); });
  std::vector<double> reals;
  const std::span<const std::uint8_t> bytes = tensor.data->bytes;
  for (std::size_t at = 0; at < bytes.size(); at += dtype_bytes(tensor.dtype)) {
    if (is_double) {
      std::memcpy(&reals.emplace_back(), bytes.data() + at, sizeof(double));
      continue;
    }
    float single = 0;
    std::memcpy(&single, bytes.data() + at, sizeof single);
    reals.push_back(single);
  }
  return reals;
}

Value transformed(NodeImport& node, const Value& scores) {
  return transformed(node, scores, node.text("post_transform", "NONE"));
}

Value transformed(const NodeImport& node, const Value& scores, const std::string& how) {
  const NodeOps of(node);
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return of.sigmoid(scores);
  if (how == "SOFTMAX") return of.softmax(scores, 1);
  if (how == "SOFTMAX_ZERO") return softmax_zero(of, scores);
  node.expect(how == "PROBIT", "the post_transform NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT",
              [&] { return how; });
  return of.mul(inverse_erf(of, of.sub(of.mul(scores, 2), 1)), std::numbers::sqrt2);
}

bool has_transform(NodeImport& node, const std::string& name) { return node.text("post_transform", "NONE") == name; }

Classes::Classes(NodeImport& node) {
  for (const char* name : {"classlabels_ints", "classlabels_int64s"})
    if (node.has(name)) numbers_ = node.integers(name);
  const std::vector<std::string> texts = node.texts("classlabels_strings");
  if (!texts.empty()) labels_ = std::make_shared<const Labels>(Labels{texts});
  node.expect(numbers_.empty() != texts.empty(), "labels of classes, all of them integers or texts",
              [&] { return texts.empty() ? "none" : "both"; });
}

Value Classes::labels(const NodeImport& node, const Value& indices) const {
  if (labels_ != nullptr) {
    Value labelled = indices;
    labelled.labels = labels_;
    return labelled;
  }
  bool is_same = true;
  for (std::size_t i = 0; i < numbers_.size(); ++i) is_same = is_same && numbers_[i] == static_cast<std::int64_t>(i);
  if (is_same) return indices;
  return NodeOps(node).gather(integers(node, numbers_), indices, 0);
}

}  // namespace ferry::graph::onnx::ml
