#include "crosscompile/foreign/cpp_headers.h"

#include <string>

namespace ferry::foreign {
namespace {

// Functions of one argument; each has a float variant, whose name in C ends in f.
constexpr const char* kOneNumber[] = {"exp",   "exp2",  "expm1", "log",       "log2", "log10", "log1p", "sin",
                                      "cos",   "tan",   "asin",  "acos",      "atan", "sinh",  "cosh",  "tanh",
                                      "asinh", "acosh", "atanh", "erf",       "sqrt", "cbrt",  "floor", "ceil",
                                      "round", "trunc", "rint",  "nearbyint", "fabs"};
constexpr const char* kBinaryOverloads[] = {"atan2", "pow", "fmod", "fmin", "fmax", "fdim", "hypot", "copysign"};
// Functions of one argument whose results are of one type, and those of an argument and something else.
constexpr const char* kRoundedToWhole[] = {"lrint", "llrint", "lround", "llround"};
constexpr const char* kWithExponent[] = {"ldexp", "scalbn"};

std::string overloads_of_one(const std::string& name) {
  return "using ::" + name + ";\ninline float " + name + "(float x) { return ::" + name +
         "f(x); }\ntemplate <class T> requires __is_integral(T) inline double " + name + "(T x) { return ::" + name +
         "(static_cast<double>(x)); }\n";
}

std::string overloads_of_two(const std::string& name) {
  return "using ::" + name + ";\ninline float " + name + "(float x, float y) { return ::" + name +
         "f(x, y); }\ntemplate <class S, class T> requires(!__is_same(S, T) || __is_integral(S)) inline double " +
         name + "(S x, T y) { return ::" + name + "(static_cast<double>(x), static_cast<double>(y)); }\n";
}

std::string cmath() {
  std::string text = "#pragma once\n#include <math.h>\nnamespace std {\n";
  for (const char* name : kOneNumber) text += overloads_of_one(name);
  for (const char* name : kBinaryOverloads) text += overloads_of_two(name);
  for (const std::string name : kRoundedToWhole)
    text += "using ::" + name + ";\ninline auto " + name + "(float x) { return ::" + name + "f(x); }\n";
  for (const std::string name : kWithExponent)
    text += "using ::" + name + ";\ninline float " + name + "(float x, int n) { return ::" + name + "f(x, n); }\n";
  return text +
         "using ::frexp;\ninline float frexp(float x, int* n) { return ::frexpf(x, n); }\n"
         "using ::modf;\ninline float modf(float x, float* whole) { return ::modff(x, whole); }\n"
         "using ::fma;\ninline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }\n"
         "using ::isnan;\nusing ::isinf;\nusing ::isfinite;\nusing ::isnormal;\nusing ::signbit;\n"
         "using ::isgreater;\nusing ::isgreaterequal;\nusing ::isless;\nusing ::islessequal;\n"
         "using ::islessgreater;\nusing ::isunordered;\n"
         "inline float abs(float x) { return __builtin_fabsf(x); }\n"
         "inline double abs(double x) { return __builtin_fabs(x); }\n"
         "template <class T> requires __is_integral(T) constexpr T abs(T x) { return x < 0 ? -x : x; }\n"
         "}\n";
}

constexpr const char* kCstdint =
    "#pragma once\n#include <stdint.h>\nnamespace std {\n"
    "using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;\n"
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;\n}\n";

constexpr const char* kCstddef =
    "#pragma once\n#include <stddef.h>\nnamespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = "
    "decltype(nullptr); }\n";

constexpr const char* kCstring =
    "#pragma once\n#include <string.h>\nnamespace std { using ::size_t; using ::memcpy; using ::memmove; using "
    "::memset; using ::memcmp; }\n";

constexpr const char* kAlgorithm =
    "#pragma once\n#include <cstddef>\nnamespace std {\n"
    "template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }\n"
    "template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }\n"
    "template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high) {\n"
    "  return x < low ? low : high < x ? high : x;\n}\n"
    "template <class T> constexpr void swap(T& a, T& b) { T c = a; a = b; b = c; }\n"
    "template <class I, class T> constexpr void fill(I begin, I end, const T& x) { for (; begin != end; ++begin) "
    "*begin = x; }\n"
    "template <class I, class N, class T> constexpr I fill_n(I to, N n, const T& x) { for (; n > 0; --n) *to++ = x; "
    "return to; }\n"
    "template <class I, class O> constexpr O copy(I begin, I end, O to) { for (; begin != end; ++begin) *to++ = "
    "*begin; return to; }\n"
    "template <class I, class N, class O> constexpr O copy_n(I from, N n, O to) { for (; n > 0; --n) *to++ = *from++; "
    "return to; }\n}\n";

}  // namespace

void write_cpp_headers(const link::TemporaryFolder& folder) {
  link::write_file(folder.file("cmath"), cmath());
  link::write_file(folder.file("cstdint"), kCstdint);
  link::write_file(folder.file("cstddef"), kCstddef);
  link::write_file(folder.file("cstring"), kCstring);
  link::write_file(folder.file("algorithm"), kAlgorithm);
}

std::string advice_on_headers(const std::string& message) {
  if (message.find("file not found") == std::string::npos) return {};
  return "kernels are compiled without a C or C++ library: they have <math.h> <string.h> <stdint.h> <stddef.h> "
         "<float.h> <limits.h>, in C++ also <cmath> <cstring> <cstdint> <cstddef> and of <algorithm> min, max, clamp, "
         "swap, fill, fill_n, copy and copy_n; other folders are given with --cflags=-I...";
}

}  // namespace ferry::foreign
