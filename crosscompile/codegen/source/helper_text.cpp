#include "crosscompile/codegen/source/helper_text.h"

#include "crosscompile/ir/error.h"

#include <cmath>

namespace ferry::codegen::source {
namespace {

DType unsigned_of(DType type) {
  switch (dtype_bytes(type)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    default: return DType::u64;
  }
}

constexpr std::string_view kSignedFloorDiv = R"($T floor_div_$N($T a, $T b) {
  if (b == 0) return 0;
  if (b == -1) return ($T)(0 - ($U)a);
  return ($T)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}
)";
constexpr std::string_view kSignedFloorMod = R"($T floor_mod_$N($T a, $T b) {
  if (b == 0 || b == -1) return 0;
  return ($T)(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}
)";
constexpr std::string_view kPopcount = R"($T popcount_$N($T a) {
  $T count = 0;
  for ($U rest = ($U)a; rest != 0; rest &= ($U)(rest - 1)) ++count;
  return count;
}
)";
constexpr std::string_view kClz = R"($T clz_$N($T a) {
  $T count = $W;
  for ($U rest = ($U)a; rest != 0; rest >>= 1) --count;
  return count;
}
)";
// The largest exponent becomes float32's largest, so that the multiplication preserves infinity and NaN.
constexpr std::string_view kHalfToSingle = R"(float f16_to_f32(f16 value) {
  const uint32_t magnitude = value & 0x7fffu;
  const float normal = f32_from_bits((magnitude << 13) + (224u << 23)) * 0x1p-112f;
  const float result = magnitude < 0x400u ? (float)magnitude * 0x1p-24f : normal;
  return f32_from_bits(f32_bits(result) | (value & 0x8000u) << 16);
}
)";
// Added to 2^15 times its power of two (2^-14 at least), the magnitude keeps as many bits as float16 has.
constexpr std::string_view kSingleToHalf = R"(f16 f32_to_f16(float value) {
  const uint32_t bits = f32_bits(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (value != value) return (f16)(sign | 0x7e00u);
  const uint32_t exponent = magnitude & 0x7f800000u;
  const uint32_t power = (exponent > 113u << 23 ? exponent : 113u << 23) + (15u << 23);
  const float scaled = f32_from_bits(magnitude) * 0x1p112f * 0x1p-110f;
  const uint32_t rounded = f32_bits(f32_from_bits(power) + scaled);
  return (f16)(sign | ((rounded >> 13 & 0x7c00u) + (rounded & 0xfffu)));
}
)";
constexpr std::string_view kBfloatToSingle = R"(float bf16_to_f32(bf16 value) {
  return f32_from_bits((uint32_t)value << 16);
}
)";
constexpr std::string_view kSingleToBfloat = R"(bf16 f32_to_bf16(float value) {
  const uint32_t bits = f32_bits(value);
  if (value != value) return (bf16)(bits >> 16 | 0x40u);
  return (bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
)";

constexpr std::string_view kCudaHalfToSingle = R"(float f16_to_f32(f16 value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value));
  return result;
}
)";
constexpr std::string_view kCudaSingleToHalf = R"(f16 f32_to_f16(float value) {
  f16 result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
  return result;
}
)";

std::string bits_text(bool from_bits, DType type, Language language) {
  if (language == Language::c) {
    return filled(from_bits ? "$T $N_from_bits($U value) {\n  $T result;\n" : "$U $N_bits($T value) {\n  $U result;\n",
                  type) +
           "  memcpy(&result, &value, sizeof result);\n  return result;\n}\n";
  }
  const bool single = type == DType::f32, opencl = language == Language::opencl;
  std::string function;
  if (from_bits) {
    function = opencl ? (single ? "as_float" : "as_double") : single ? "__uint_as_float" : "__longlong_as_double";
  } else {
    function = opencl ? (single ? "as_uint" : "as_ulong") : single ? "__float_as_uint" : "__double_as_longlong";
  }
  return filled(from_bits ? "$T $N_from_bits($U value) { return " : "$U $N_bits($T value) { return ", type) + function +
         "(value); }\n";
}

std::string minimum_text(bool smaller, DType type) {
  const std::string operation = smaller ? "<" : ">";
  const std::string nan = is_float(type) ? "a != a ? a : b != b ? b : " : "";
  return filled((smaller ? "$T min_$N($T a, $T b) { return " : "$T max_$N($T a, $T b) { return ") + nan + "a " +
                    operation + " b ? a : b; }\n",
                type);
}

std::string sigmoid_text(DType type, Language language) {
  const std::string suffix = type == DType::f32 && language != Language::opencl ? "f" : "";
  return filled("$T sigmoid_$N($T x) {\n  const $T e = exp" + suffix + "(-fabs" + suffix +
                    "(x));\n  return (x >= 0 ? 1 : e) / (1 + e);\n}\n",
                type);
}

}  // namespace

std::string filled(std::string_view pattern, DType type) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      text += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'T': text += value_type(type); break;
      case 'U': text += value_type(unsigned_of(type)); break;
      case 'W': text += std::to_string(dtype_bytes(type) * 8); break;
      case 'N': text += dtype_name(type); break;
      default: throw InternalError("filled: unknown mark");
    }
  }
  return text;
}

std::string helper_text(Helper helper, DType type, const Dialect& dialect) {
  const bool is_signed = is_signed_int(type);
  switch (helper) {
    case Helper::floor_div:
      return filled(is_signed ? kSignedFloorDiv : "$T floor_div_$N($T a, $T b) { return b == 0 ? 0 : a / b; }\n", type);
    case Helper::floor_mod:
      return filled(is_signed ? kSignedFloorMod : "$T floor_mod_$N($T a, $T b) { return b == 0 ? 0 : a % b; }\n", type);
    case Helper::shift_left:
      return filled("$T shift_left_$N($T a, $T b) { return ($U)b < $W ? ($T)((uint64_t)a << b) : 0; }\n", type);
    case Helper::shift_right:
      return filled(is_signed ? "$T shift_right_$N($T a, $T b) { return a >> (($U)b < $W ? b : $W - 1); }\n"
                              : "$T shift_right_$N($T a, $T b) { return b < $W ? a >> b : 0; }\n",
                    type);
    case Helper::min: return minimum_text(true, type);
    case Helper::max: return minimum_text(false, type);
    case Helper::abs: return filled("$T abs_$N($T a) { return a < 0 ? ($T)(0 - ($U)a) : a; }\n", type);
    case Helper::popcount: return filled(kPopcount, type);
    case Helper::clz: return filled(kClz, type);
    case Helper::sigmoid: return sigmoid_text(type, dialect.language);
    case Helper::bits: return bits_text(false, type, dialect.language);
    case Helper::from_bits: return bits_text(true, type, dialect.language);
    case Helper::to_single:
      if (type == DType::f16 && dialect.language == Language::cuda) return std::string(kCudaHalfToSingle);
      return std::string(type == DType::f16 ? kHalfToSingle : kBfloatToSingle);
    case Helper::from_single:
      if (type == DType::f16 && dialect.language == Language::cuda) return std::string(kCudaSingleToHalf);
      return std::string(type == DType::f16 ? kSingleToHalf : kSingleToBfloat);
  }
  throw InternalError("helper_text: unknown helper");
}

std::string saturating_text(DType from, DType to, const Dialect& dialect) {
  const bool is_signed = is_signed_int(to);
  const int digits = static_cast<int>(dtype_bytes(to)) * 8 - (is_signed ? 1 : 0);
  // Both bounds as floats: the upper one is a power of two, which itself does not fit.
  const double end = std::ldexp(1.0, digits);
  const std::int64_t lowest = is_signed ? -1 - static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits)) : 0;
  const auto highest = static_cast<std::int64_t>(~std::uint64_t{0} >> (64 - digits));
  const std::string source(dtype_name(from));
  return filled("$T " + source + "_to_$N(" + value_type(from) + " x) {\n  if (x != x) return 0;\n  if (x <= " +
                    float_literal(from, is_signed ? -end : 0.0) + ") return " +
                    int_literal(dialect.language, to, lowest) + ";\n  if (x >= " + float_literal(from, end) +
                    ") return " + int_literal(dialect.language, to, highest) + ";\n  return ($T)x;\n}\n",
                to);
}

std::vector<Helper> helpers_inside(Helper helper, DType type) {
  if (helper == Helper::to_single && type == DType::bf16) return {Helper::from_bits};
  if (helper == Helper::from_single && type == DType::bf16) return {Helper::bits};
  if (helper == Helper::to_single || helper == Helper::from_single) return {Helper::bits, Helper::from_bits};
  return {};
}

}  // namespace ferry::codegen::source
