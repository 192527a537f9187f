#include "host/graph/onnx/convert_tensor.h"

#include <onnx.pb.h>

#include <charconv>
#include <concepts>
#include <cstring>
#include <limits>

#include "base/format.h"
#include "base/printable.h"
#include "ferry/error.h"
#include "host/graph/onnx/stored_types.h"

namespace ferry::graph::onnx {
namespace {

using ::onnx::TensorProto;

struct ElementType {
  std::int32_t number;
  const char* name;
  std::optional<DType> dtype;
};

constexpr ElementType kElementTypes[] = {
    {TensorProto::FLOAT, "float", DType::f32},
    {TensorProto::UINT8, "uint8", DType::u8},
    {TensorProto::INT8, "int8", DType::i8},
    {TensorProto::UINT16, "uint16", DType::u16},
    {TensorProto::INT16, "int16", DType::i16},
    {TensorProto::INT32, "int32", DType::i32},
    {TensorProto::INT64, "int64", DType::i64},
    {TensorProto::STRING, kTextType, {}},
    {TensorProto::BOOL, "bool", DType::boolean},
    {TensorProto::FLOAT16, "float16", DType::f16},
    {TensorProto::DOUBLE, "double", DType::f64},
    {TensorProto::UINT32, "uint32", DType::u32},
    {TensorProto::UINT64, "uint64", DType::u64},
    {TensorProto::COMPLEX64, "complex64", {}},
    {TensorProto::COMPLEX128, "complex128", {}},
    {TensorProto::BFLOAT16, "bfloat16", DType::bf16},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", {}},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", {}},
    {TensorProto::FLOAT8E5M2, "float8e5m2", {}},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", {}},
    {TensorProto::UINT4, "uint4", {}},
    {TensorProto::INT4, "int4", {}},
    {TensorProto::FLOAT4E2M1, "float4e2m1", {}},
    {TensorProto::FLOAT8E8M0, "float8e8m0", {}},
    {TensorProto::UINT2, "uint2", {}},
    {TensorProto::INT2, "int2", {}},
};

const ElementType* find_type(std::int32_t number) {
  for (const ElementType& type : kElementTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

// Returns the number of bytes of all elements.
std::size_t tensor_bytes(const std::vector<std::int64_t>& shape, DType dtype) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(dtype));
  for (const std::int64_t size : shape) {
    if (size < 0) throw UsageError("expected sizes of 0 or more, got " + std::to_string(size));
    if (__builtin_mul_overflow(bytes, size, &bytes)) throw UsageError("expected fewer than 2^63 bytes");
  }
  return static_cast<std::size_t>(bytes);
}

// The field that holds elements of the type, which is not used for external or raw data.
struct TypedField {
  const char* name;
  int count;
};
TypedField typed_field(const TensorProto& tensor, DType dtype) {
  switch (dtype) {
    case DType::f32: return {"float_data", tensor.float_data_size()};
    case DType::f64: return {"double_data", tensor.double_data_size()};
    case DType::i64: return {"int64_data", tensor.int64_data_size()};
    case DType::u32:
    case DType::u64: return {"uint64_data", tensor.uint64_data_size()};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::u8:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
    case DType::boolean: return {"int32_data", tensor.int32_data_size()};
  }
  return {"", 0};
}

int count_in_all_fields(const TensorProto& tensor) {
  return tensor.float_data_size() + tensor.double_data_size() + tensor.int64_data_size() + tensor.uint64_data_size() +
         tensor.int32_data_size() + tensor.string_data_size();
}

template <class Element>
ConstantData narrowed(const auto& values) {
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(values.size()) * sizeof(Element));
  std::size_t at = 0;
  for (const auto value : values) {
    if (!std::in_range<Element>(value)) {
      throw UsageError("expected elements that fit its type, got " + std::to_string(value));
    }
    const auto element = static_cast<Element>(value);
    std::memcpy(bytes->data() + at, &element, sizeof element);
    at += sizeof element;
  }
  return {*bytes, bytes};
}

template <class Field>
ConstantData whole(const Field& values, const std::shared_ptr<const void>& owner) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return {{begin, static_cast<std::size_t>(values.size()) * sizeof(*values.data())}, owner};
}

ConstantData typed_data(const TensorProto& tensor, DType dtype, const std::shared_ptr<const void>& owner) {
  switch (dtype) {
    case DType::f32: return whole(tensor.float_data(), owner);
    case DType::f64: return whole(tensor.double_data(), owner);
    case DType::i64: return whole(tensor.int64_data(), owner);
    case DType::u64: return whole(tensor.uint64_data(), owner);
    case DType::i32: return whole(tensor.int32_data(), owner);
    case DType::u32: return narrowed<std::uint32_t>(tensor.uint64_data());
    case DType::i8: return narrowed<std::int8_t>(tensor.int32_data());
    case DType::i16: return narrowed<std::int16_t>(tensor.int32_data());
    case DType::u8:
    case DType::boolean: return narrowed<std::uint8_t>(tensor.int32_data());
    case DType::u16:
    case DType::f16:
    case DType::bf16: return narrowed<std::uint16_t>(tensor.int32_data());
  }
  return {};
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 0) {
    throw UsageError("expected a number as offset and length of external data, got '" + printable(text) + "'");
  }
  return number;
}

ConstantData external_data(const TensorProto& tensor, ExternalFiles& files) {
  std::string location;
  std::int64_t offset = 0, length = -1;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number_of(entry.value());
    if (entry.key() == "length") length = number_of(entry.value());
  }
  return files.read(location, offset, length);
}

ConstantData contents(const TensorProto& tensor, DType dtype, const std::shared_ptr<const void>& owner,
                      ExternalFiles& files) {
  if (tensor.data_location() == TensorProto::EXTERNAL) return external_data(tensor, files);
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    return {{reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()}, owner};
  }
  const TypedField field = typed_field(tensor, dtype);
  if (field.count != count_in_all_fields(tensor)) {
    throw UsageError(std::string("expected elements of ") + dtype_name(dtype) + " in the field " + field.name +
                     ", got some in another");
  }
  return typed_data(tensor, dtype, owner);
}

// Returns the bytes of a type that only weights have, several elements in one if they are narrower.
std::shared_ptr<const ConstantData> stored_data(const TensorProto& tensor, const Constant& constant, std::size_t bits,
                                                const std::shared_ptr<const void>& owner, ExternalFiles& files) {
  const std::size_t elements = tensor_bytes(constant.shape, DType::u8), in_byte = 8 / bits;
  const std::size_t bytes = elements / in_byte + (elements % in_byte == 0 ? 0 : 1);
  if (tensor.has_segment()) throw UsageError("expected a whole tensor, got a segment");
  const ConstantData data = contents(tensor, DType::u8, owner, files);
  if (data.bytes.size() != bytes) {
    throw UsageError(
        format("expected %zu bytes of %s, got %zu", bytes, constant.unsupported_type.c_str(), data.bytes.size()));
  }
  return std::make_shared<ConstantData>(data);
}

}  // namespace

std::optional<DType> dtype_of(std::int32_t element_type) {
  const ElementType* type = find_type(element_type);
  return type == nullptr ? std::nullopt : type->dtype;
}

std::string element_type_name(std::int32_t element_type) {
  const ElementType* type = find_type(element_type);
  return type == nullptr ? format("type %d", element_type) : type->name;
}

namespace {

std::shared_ptr<const std::vector<std::string>> texts_of(const TensorProto& tensor,
                                                         const std::vector<std::int64_t>& shape) {
  const std::size_t count = tensor_bytes(shape, DType::u8);
  if (static_cast<std::size_t>(tensor.string_data_size()) != count)
    throw UsageError(format("expected %zu texts, got %d", count, tensor.string_data_size()));
  return std::make_shared<const std::vector<std::string>>(tensor.string_data().begin(), tensor.string_data().end());
}

}  // namespace

Constant convert_tensor(const TensorProto& tensor, const std::shared_ptr<const void>& owner, ExternalFiles& files) {
  Constant constant;
  constant.shape.assign(tensor.dims().begin(), tensor.dims().end());
  const std::optional<DType> dtype = dtype_of(tensor.data_type());
  if (!dtype) {
    constant.unsupported_type = element_type_name(tensor.data_type());
    if (const std::size_t bits = stored_bits(constant.unsupported_type); bits > 0)
      constant.data = stored_data(tensor, constant, bits, owner, files);
    if (tensor.data_type() == TensorProto::STRING) constant.texts = texts_of(tensor, constant.shape);
    return constant;
  }
  constant.dtype = *dtype;
  const std::size_t bytes = tensor_bytes(constant.shape, *dtype);
  if (tensor.has_segment()) throw UsageError("expected a whole tensor, got a segment");
  const ConstantData data = contents(tensor, *dtype, owner, files);
  if (data.bytes.size() != bytes) {
    throw UsageError(format("expected %zu bytes of %s, got %zu", bytes, dtype_name(*dtype), data.bytes.size()));
  }
  if (*dtype == DType::boolean) {
    for (const std::uint8_t byte : data.bytes) {
      if (byte > 1) throw UsageError(format("expected bools of 0 or 1, got %u", byte));
    }
  }
  constant.data = std::make_shared<ConstantData>(data);
  return constant;
}

namespace {

// Returns the places of a sparse tensor's values among the elements of the dense one: each is an index, or one for each
// dimension.
std::vector<std::size_t> sparse_places(const Constant& indices, std::size_t values,
                                       const std::vector<std::int64_t>& dims) {
  const bool is_linear = indices.shape.size() == 1;
  const auto rank = static_cast<std::int64_t>(dims.size()), count = static_cast<std::int64_t>(values);
  if (indices.data == nullptr || indices.dtype != DType::i64 || (!is_linear && indices.shape.size() != 2) ||
      indices.shape[0] != count || (!is_linear && indices.shape[1] != rank)) {
    throw UsageError("expected int64 indices, one of each value or one of each value and dimension");
  }
  const std::vector<std::int64_t> all = is_linear ? std::vector<std::int64_t>{1} : dims;
  std::int64_t elements = 1;
  for (const std::int64_t size : dims) elements *= size;
  std::vector<std::size_t> places;
  const std::uint8_t* at = indices.data->bytes.data();
  for (std::size_t v = 0; v < values; ++v) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < all.size(); ++d, at += sizeof(std::int64_t)) {
      std::int64_t index = 0;
      std::memcpy(&index, at, sizeof index);
      const std::int64_t size = is_linear ? elements : dims[d];
      if (index < 0 || index >= size) {
        throw UsageError(format("expected indices below %lld, got %lld", static_cast<long long>(size),
                                static_cast<long long>(index)));
      }
      place = place * (is_linear ? 1 : dims[d]) + index;
    }
    if (!places.empty() && static_cast<std::size_t>(place) <= places.back())
      throw UsageError("expected indices in ascending order, each once");
    places.push_back(static_cast<std::size_t>(place));
  }
  return places;
}

}  // namespace

Constant convert_sparse_tensor(const ::onnx::SparseTensorProto& tensor, const std::shared_ptr<const void>& owner,
                               ExternalFiles& files, std::size_t& room) {
  const Constant values = convert_tensor(tensor.values(), owner, files);
  Constant dense = values;
  dense.shape.assign(tensor.dims().begin(), tensor.dims().end());
  if (!values.unsupported_type.empty()) {
    dense.data = nullptr;
    return dense;
  }
  if (values.shape.size() != 1) throw UsageError("expected values of rank 1");
  const std::size_t bytes = tensor_bytes(dense.shape, dense.dtype), size = dtype_bytes(dense.dtype);
  if (bytes > room) throw UsageError("expected at most 1 GiB of all sparse tensors as dense ones, got more");
  room -= bytes;
  const Constant indices = convert_tensor(tensor.indices(), owner, files);
  const std::vector<std::size_t> places =
      sparse_places(indices, static_cast<std::size_t>(values.shape[0]), dense.shape);
  const auto all = std::make_shared<std::vector<std::uint8_t>>(bytes);
  for (std::size_t v = 0; v < places.size(); ++v)
    std::memcpy(all->data() + places[v] * size, values.data->bytes.data() + v * size, size);
  dense.data = std::make_shared<ConstantData>(ConstantData{*all, all});
  return dense;
}

}  // namespace ferry::graph::onnx
