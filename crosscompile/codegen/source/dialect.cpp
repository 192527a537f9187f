#include "crosscompile/codegen/source/dialect.h"

#include "crosscompile/ir/c_type_name.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace ferry::codegen::source {
namespace {

constexpr Dialect kDialects[] = {
    {.language = Language::c,
     .name = "c",
     .helper = "static inline ",
     .restrict = "restrict",
     .unroll = "/* unrolled */"},
    {.language = Language::cuda,
     .name = "cuda",
     .helper = "static __device__ __forceinline__ ",
     .restrict = "__restrict__",
     .kernel = "extern \"C\" __global__ ",
     .shared = "__shared__ __align__(16) ",
     .barrier = "__syncthreads();",
     .block_index = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
     .thread_index = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
     .unroll = "#pragma unroll"},
    {.language = Language::opencl,
     .name = "opencl",
     .helper = "static inline ",
     .restrict = "restrict",
     .kernel = "__kernel ",
     .global = "__global ",
     .shared = "__local __attribute__((aligned(16))) ",
     .shared_pointer = "__local ",
     .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
     .block_index = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
     .thread_index = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
     .unroll = "#pragma unroll"},
};

}  // namespace

const Dialect& dialect_of(Language language) { return kDialects[static_cast<std::size_t>(language)]; }

std::string value_type(DType type) {
  // Narrow floats are types of the text's own, by their short names.
  return ir::Type(type).is_narrow_float() ? dtype_name(type) : ir::c_type_name(type);
}

std::string memory_type(DType type) { return type == DType::boolean ? "uint8_t" : value_type(type); }

std::string int_literal(Language language, DType type, std::int64_t value) {
  // OpenCL's long always has 64 bits, and OpenCL has no long long.
  const std::string wide = language == Language::opencl ? "l" : "ll";
  if (type == DType::boolean) return value != 0 ? "true" : "false";
  if (ir::Type(type).is_narrow_float()) {
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<std::uint16_t>(value), 16);
    return "0x" + std::string(digits, end.ptr);
  }
  if (type == DType::u64) {
    const auto bits = static_cast<std::uint64_t>(value);
    return std::to_string(bits) + (bits > std::numeric_limits<std::uint32_t>::max() ? "u" + wide : "u");
  }
  if (type == DType::u32) return std::to_string(value) + "u";
  // C reads -2147483648 as the negation of a number that is too large.
  if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807" + wide + " - 1)";
  const bool small =
      value > std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
  return std::to_string(value) + (small ? "" : wide);
}

std::string float_literal(DType type, double value) {
  const std::string cast = type == DType::f64 ? "(double)" : "";
  if (std::isnan(value)) return cast + "NAN";
  if (std::isinf(value)) return value < 0 ? "-" + cast + "INFINITY" : cast + "INFINITY";
  char digits[40];
  // The shortest digits that denote this value in its own type.
  const auto end = type == DType::f64 ? std::to_chars(digits, digits + sizeof digits, value)
                                      : std::to_chars(digits, digits + sizeof digits, static_cast<float>(value));
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (type == DType::f64 ? "" : "f");
}

}  // namespace ferry::codegen::source
