#include "crosscompile/codegen/source/prelude.h"

#include <algorithm>

namespace ferry::codegen::source {
namespace {

constexpr std::string_view kRuntime = R"(#ifndef FERRY_RPC_ABI_RUNTIME_API_H
#define FERRY_RPC_ABI_RUNTIME_API_H
/* Whoever calls a kernel gives it, in args, a pointer for each parameter and one for each size (int64_t), and this. */
typedef struct ferry_runtime_api ferry_runtime_api;
struct ferry_runtime_api {
  uint32_t size, version;
  /* Runs body on pieces of [0, n) of at least grain iterations, perhaps on several threads; returns the first result
     that is not 0. */
  int32_t (*parallel_for)(const ferry_runtime_api* rt, int64_t n, int64_t grain,
                          int32_t (*body)(int64_t begin, int64_t end, void* closure), void* closure);
  /* 0: one block a call; 1: one a thread. 64-byte aligned. */
  void* (*workspace)(const ferry_runtime_api* rt, int32_t kind);
  void (*print)(const ferry_runtime_api* rt, const char* bytes, size_t length);
  void* (*query)(const ferry_runtime_api* rt, const char* name);
};
#endif
)";

bool uses(const Unit& unit, std::string_view word) {
  return unit.helpers.text().find(word) != std::string::npos ||
         std::any_of(unit.functions.begin(), unit.functions.end(),
                     [&](const std::string& text) { return text.find(word) != std::string::npos; });
}

std::string prototypes_text(const Unit& unit) {
  std::string text;
  for (const auto& [name, prototype] : unit.prototypes) {
    std::string parameters;
    for (const std::string& parameter : prototype.parameters)
      parameters += (parameters.empty() ? "" : ", ") + parameter;
    text += prototype.result + " " + name + "(" + (parameters.empty() ? "void" : parameters) + ");\n";
  }
  return text.empty() ? text : text + "\n";
}

constexpr std::string_view kCudaTypes = R"(#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#include <cmath>
#include <cstdint>
#endif

)";

constexpr std::string_view kOpenclTypes = R"(typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

)";

std::string c_includes(const Unit& unit) {
  std::string text = "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n";
  if (uses(unit, "memcpy(")) text += "#include <string.h>\n";
  return text + "\n" + std::string(kRuntime) + "\n";
}

std::string above_all(const Unit& unit) {
  switch (unit.dialect.language) {
    case Language::c: return c_includes(unit);
    case Language::cuda: return std::string(kCudaTypes);
    case Language::opencl:
      return (uses(unit, "double") ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\n" : "") +
             std::string(kOpenclTypes);
  }
  return "";
}

}  // namespace

std::string prelude_text(const Unit& unit) {
  std::string text = above_all(unit);
  const bool f16 = uses(unit, "f16 ") || uses(unit, "f16*"), bf16 = uses(unit, "bf16 ") || uses(unit, "bf16*");
  if (f16) text += "typedef uint16_t f16;  /* the bits of a float16 */\n";
  if (bf16) text += "typedef uint16_t bf16;  /* the bits of a bfloat16 */\n";
  if (f16 || bf16) text += "\n";
  return text + prototypes_text(unit) + unit.helpers.text();
}

}  // namespace ferry::codegen::source
