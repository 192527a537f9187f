// Writes ONNX files byte by byte, well formed or not, without the library that the importer reads them with.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferry::test {

// A message in protobuf's wire format; the fields are those of onnx.proto.
class Proto {
 public:
  Proto& number(std::uint64_t field, std::int64_t value) {
    put(field << 3);
    put(static_cast<std::uint64_t>(value));
    return *this;
  }
  Proto& bytes(std::uint64_t field, std::string_view value) {
    put(field << 3 | 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  Proto& message(std::uint64_t field, const Proto& value) { return bytes(field, value.bytes_); }
  Proto& real(std::uint64_t field, float value) {
    put(field << 3 | 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& text() const { return bytes_; }

 private:
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

enum ElementType : std::int64_t {
  kFloat = 1,
  kUint8 = 2,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kDouble = 11
};

using Sizes = std::vector<std::int64_t>;

template <class Element>
std::string raw(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

inline Proto tensor(const std::string& name, std::int64_t type, const Sizes& dims) {
  Proto proto;
  for (const std::int64_t dim : dims) proto.number(1, dim);
  return proto.number(2, type).bytes(8, name);
}
inline Proto tensor(const std::string& name, std::int64_t type, const Sizes& dims, const std::string& data) {
  return tensor(name, type, dims).bytes(9, data);
}
inline Proto integers(const std::string& name, const Sizes& values) {
  return tensor(name, kInt64, {static_cast<std::int64_t>(values.size())}, raw(values));
}
// Zeros.
inline Proto floats(const std::string& name, const Sizes& dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return tensor(name, kFloat, dims, std::string(count * 4, '\0'));
}
inline Proto scalar(const std::string& name, float value) { return tensor(name, kFloat, {}, raw<float>({value})); }

inline Proto external(Proto tensor, const std::string& location, const std::string& offset = "",
                      const std::string& length = "") {
  const auto entry = [&](const char* key, const std::string& value) {
    if (!value.empty()) tensor.message(13, Proto().bytes(1, key).bytes(2, value));
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  return tensor.number(14, 1);
}

template <std::integral Integer>
Proto attribute(const std::string& name, Integer value) {
  return Proto().bytes(1, name).number(3, value).number(20, 2);
}
template <std::floating_point Real>
Proto attribute(const std::string& name, Real value) {
  return Proto().bytes(1, name).real(2, value).number(20, 1);
}
inline Proto attribute(const std::string& name, const char* value) {
  return Proto().bytes(1, name).bytes(4, value).number(20, 3);
}
inline Proto attribute(const std::string& name, const Sizes& values) {
  Proto proto = Proto().bytes(1, name).number(20, 7);
  for (const std::int64_t value : values) proto.number(8, value);
  return proto;
}
inline Proto attribute(const std::string& name, const Proto& tensor) {
  return Proto().bytes(1, name).message(5, tensor).number(20, 4);
}

// A dimension: a number, a name, or neither.
struct Dim {
  Dim(std::int64_t size) { proto.number(1, size); }
  Dim(int size) : Dim(std::int64_t{size}) {}
  Dim(const char* name) { proto.bytes(2, name); }
  Dim() = default;
  Proto proto = {};
};
inline Proto value(const std::string& name, std::int64_t type, const std::vector<Dim>& dims) {
  Proto shape;
  for (const Dim& dim : dims) shape.message(1, dim.proto);
  const Proto tensor_type = Proto().number(1, type).message(2, shape);
  return Proto().bytes(1, name).message(2, Proto().message(1, tensor_type));
}

inline Proto node_proto(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::vector<Proto>& attributes = {},
                        const std::string& name = "", const std::string& domain = "") {
  Proto proto;
  for (const std::string& one : inputs) proto.bytes(1, one);
  for (const std::string& one : outputs) proto.bytes(2, one);
  proto.bytes(3, name).bytes(4, op).bytes(7, domain);
  for (const Proto& one : attributes) proto.message(5, one);
  return proto;
}

class ModelBytes {
 public:
  std::int64_t ir_version = 8, opset = 17;
  std::string domain;  // the opset's domain

  ModelBytes& input(const Proto& value) { return part(11, value); }
  ModelBytes& input(const std::string& name, const std::vector<Dim>& dims, std::int64_t type = kFloat) {
    return input(value(name, type, dims));
  }
  ModelBytes& output(const std::string& name) { return part(12, Proto().bytes(1, name)); }
  ModelBytes& initializer(const Proto& tensor) { return part(5, tensor); }
  ModelBytes& node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const std::vector<Proto>& attributes = {},
                   const std::string& name = "", const std::string& node_domain = "") {
    return part(1, node_proto(op, inputs, outputs, attributes, name, node_domain));
  }
  // Adds any field of GraphProto.
  ModelBytes& part(std::uint64_t field, const Proto& value) {
    graph_.message(field, value);
    return *this;
  }

  // Adds any field of ModelProto.
  ModelBytes& model_part(std::uint64_t field, const Proto& value) {
    others_.message(field, value);
    return *this;
  }
  const Proto& graph() const { return graph_; }

  std::string text() const {
    const Proto version = Proto().bytes(1, domain).number(2, opset);
    return Proto().number(1, ir_version).message(8, version).message(7, graph_).text() + others_.text();
  }

 private:
  Proto others_;
  Proto graph_ = Proto().bytes(2, "net");
};

}  // namespace ferry::test
