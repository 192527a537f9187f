#include "host/graph/onnx/stored_types.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {
namespace {

// The meaning of codes that would otherwise be a float's largest numbers, or minus 0.
enum class Special {
  none,
  ieee,          // the largest exponent is infinity, or NaN with a mantissa
  largest_nan,   // the largest code
  negative_zero  // minus 0 is NaN
};

struct StoredType {
  const char* name;
  int bits;
  int exponent_bits = 0;  // 0: an integer
  int bias = 0;
  Special special = Special::none;
  bool is_signed = true;
};

// Formats as https://onnx.ai/onnx/technical/float8.html and float4.html describe them.
constexpr StoredType kTypes[] = {
    {"uint2", 2, 0, 0, Special::none, false},
    {"int2", 2},
    {"uint4", 4, 0, 0, Special::none, false},
    {"int4", 4},
    {"float4e2m1", 4, 2, 1},
    {"float8e4m3fn", 8, 4, 7, Special::largest_nan},
    {"float8e4m3fnuz", 8, 4, 8, Special::negative_zero},
    {"float8e5m2", 8, 5, 15, Special::ieee},
    {"float8e5m2fnuz", 8, 5, 16, Special::negative_zero},
    {"float8e8m0", 8, 8, 127, Special::largest_nan, false},
};

const StoredType* find_type(const std::string& name) {
  for (const StoredType& type : kTypes)
    if (name == type.name) return &type;
  return nullptr;
}

float integer_of(const StoredType& type, int code) {
  const int count = 1 << type.bits;
  return static_cast<float>(type.is_signed && code >= count / 2 ? code - count : code);
}

float float_of(const StoredType& type, int code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int mantissa_bits = type.bits - type.exponent_bits - (type.is_signed ? 1 : 0);
  const int magnitude_bits = type.exponent_bits + mantissa_bits, magnitude = code & ((1 << magnitude_bits) - 1);
  const bool is_negative = code != magnitude;
  const int exponent = magnitude >> mantissa_bits, mantissa = magnitude & ((1 << mantissa_bits) - 1);
  if (type.special == Special::negative_zero && is_negative && magnitude == 0) return kNan;
  if (type.special == Special::largest_nan && magnitude == (1 << magnitude_bits) - 1) return kNan;
  if (type.special == Special::ieee && exponent == (1 << type.exponent_bits) - 1) {
    if (mantissa != 0) return kNan;
    return is_negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  // A type without a mantissa has neither 0 nor numbers below its least power of two.
  const bool is_normal = exponent > 0 || mantissa_bits == 0;
  const int significand = is_normal ? mantissa + (1 << mantissa_bits) : mantissa;
  const int power = (is_normal ? exponent : 1) - type.bias - mantissa_bits;
  const float value = std::ldexp(static_cast<float>(significand), power);
  return is_negative ? -value : value;
}

}  // namespace

std::size_t stored_bits(const std::string& type) {
  const StoredType* found = find_type(type);
  return found == nullptr ? 0 : static_cast<std::size_t>(found->bits);
}

std::vector<float> stored_values(const std::string& name) {
  const StoredType& type = *find_type(name);
  std::vector<float> values;
  for (int code = 0; code < 1 << type.bits; ++code)
    values.push_back(type.exponent_bits == 0 ? integer_of(type, code) : float_of(type, code));
  return values;
}

bool decodes_stored_types(const std::string& domain, const std::string& op) {
  if (domain == "com.microsoft") return op == "GatherBlockQuantized" || op == "DequantizeLinear";
  return domain.empty() && (op == "Cast" || op == "DequantizeLinear");
}

Value unpacked(const NodeImport& node, const Value& packed, std::int64_t bits) {
  const NodeOps of(node);
  if (bits == 8) return node.cast(packed, DType::i16);
  Shape apart = packed.type.shape, together = packed.type.shape;
  apart.push_back(1);
  together.back() = together.back() * (8 / bits);
  std::vector<Value> entries;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    const Value shifted = shift == 0 ? packed : of.shift_right(packed, static_cast<double>(shift));
    const Value code = of.bit_and(shifted, static_cast<double>((1 << bits) - 1));
    entries.push_back(of.reshape(node.cast(code, DType::i8), apart));
  }
  return of.reshape(of.concat(entries, apart.size() - 1), together);
}

Value decoded_codes(const NodeImport& node, const std::string& type, const Value& codes) {
  const std::vector<float> values = stored_values(type);
  const auto bytes = std::make_shared<std::vector<std::uint8_t>>(values.size() * sizeof(float));
  std::memcpy(bytes->data(), values.data(), bytes->size());
  const auto count = static_cast<std::int64_t>(values.size());
  const auto data = std::make_shared<ConstantData>(ConstantData{*bytes, bytes});
  return NodeOps(node).gather(constant_value(type, {DType::f32, {count}, data}), codes, 0);
}

Value decoded(const NodeImport& node, const Constant& stored) {
  const NodeOps of(node);
  const auto size = static_cast<std::int64_t>(stored.data->bytes.size());
  const Value packed = constant_value(stored.unsupported_type, {DType::u8, {size}, stored.data});
  const Shape shape(stored.shape.begin(), stored.shape.end());
  const auto bits = static_cast<std::int64_t>(stored_bits(stored.unsupported_type));
  const Value codes = of.slice(unpacked(node, packed, bits), 0, 0, element_count(shape));
  return of.reshape(decoded_codes(node, stored.unsupported_type, codes), shape);
}

Value decoded_input(const NodeImport& node, std::size_t i) {
  const Constant* stored = node.stored_input(i);
  return stored == nullptr ? node.input(i) : decoded(node, *stored);
}

}  // namespace ferry::graph::onnx
