#include "crosscompile/foreign/c_headers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "crosscompile/codegen/llvm/target/imports.h"

namespace ferry::foreign {
namespace {

constexpr std::array<std::string_view, 3> kBinaryFunctions = {"atan2", "pow", "fmod"};

// Returns the prototype of a function of symbols.def; empty for those that are not in <math.h>.
std::string math_prototype(std::string_view name) {
  if (name.starts_with("__") || name.starts_with("mem")) return {};
  // "erf" and "erff": a trailing f marks the float variant, except in "erf", the only name for doubles that ends in f.
  const bool is_float = name.ends_with("f") && name != "erf";
  const std::string_view base = is_float ? name.substr(0, name.size() - 1) : name;
  const std::string type = is_float ? "float" : "double";
  std::string parameters = type;
  if (std::find(kBinaryFunctions.begin(), kBinaryFunctions.end(), base) != kBinaryFunctions.end())
    parameters += ", " + type;
  if (base == "fma") parameters += ", " + type + ", " + type;
  return type + " " + std::string(name) + "(" + parameters + ");\n";
}

// Defines the function for both types: static inline double fabs(double x) { return __builtin_fabs(x); }
std::string inline_function(const std::string& name, const std::string& parameters, const std::string& body) {
  std::string text;
  for (const std::string end : {"", "f"}) {
    const std::string type = end.empty() ? "double" : "float";
    text += "static inline " + type + " " + name + end + "(" + type + " x" +
            (parameters == "x" ? "" : ", " + type + " y") + ") { return " +
            (body.empty() ? "__builtin_" + name + end + "(" + parameters + ")" : body) + "; }\n";
  }
  return text;
}

// Defines fmax and fmin. On processors without instructions for them, the builtins would call functions that devices do
// not offer.
std::string least_and_greatest(const Target& target) {
  const bool has_none = !target.capabilities.float_min_max;
  return inline_function("fmax", "x, y", has_none ? "x != x || x < y ? y : x" : "") +
         inline_function("fmin", "x, y", has_none ? "x != x || y < x ? y : x" : "");
}

// Functions with several parameters or results of another type; helpers.h defines them.
constexpr const char* kOtherFunctions =
    "double hypot(double, double);\nfloat hypotf(float, float);\n"
    "double fdim(double, double);\nfloat fdimf(float, float);\n"
    "double ldexp(double, int);\nfloat ldexpf(float, int);\ndouble scalbn(double, int);\nfloat scalbnf(float, int);\n"
    "double frexp(double, int*);\nfloat frexpf(float, int*);\n"
    "double modf(double, double*);\nfloat modff(float, float*);\n"
    "long lrint(double);\nlong lrintf(float);\nlong long llrint(double);\nlong long llrintf(float);\n"
    "long lround(double);\nlong lroundf(float);\nlong long llround(double);\nlong long llroundf(float);\n";

constexpr const char* kConstants =
    "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n"
    "#define HUGE_VAL __builtin_huge_val()\n#define HUGE_VALF __builtin_huge_valf()\n"
    "#define M_E 2.71828182845904523536\n#define M_LOG2E 1.44269504088896340736\n"
    "#define M_LOG10E 0.43429448190325182765\n#define M_LN2 0.69314718055994530942\n"
    "#define M_LN10 2.30258509299404568402\n#define M_PI 3.14159265358979323846\n"
    "#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.78539816339744830962\n"
    "#define M_1_PI 0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n"
    "#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 1.41421356237309504880\n"
    "#define M_SQRT1_2 0.70710678118654752440\n";

// What C has as macros for numbers of any type, and C++ as functions.
std::string classifications() {
  std::string macros, functions;
  for (const std::string name : {"isnan", "isinf", "isfinite", "isnormal", "signbit"}) {
    macros += "#define " + name + "(x) __builtin_" + name + "(x)\n";
    functions += "template <class T> inline bool " + name + "(T x) { return __builtin_" + name + "(x); }\n";
  }
  for (const std::string name :
       {"isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isunordered"}) {
    macros += "#define " + name + "(x, y) __builtin_" + name + "(x, y)\n";
    functions += "template <class T> inline bool " + name + "(T x, T y) { return __builtin_" + name + "(x, y); }\n";
  }
  return "#ifdef __cplusplus\n" + functions + "#else\n" + macros + "#endif\n";
}

std::string guarded(const std::string& body) {
  return "#pragma once\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + body + "#ifdef __cplusplus\n}\n#endif\n";
}

}  // namespace

void write_c_headers(const link::TemporaryFolder& folder, const Target& target) {
  std::string math;
  const auto add = [&](const char* name) {
    if (codegen::is_offered(name, target.arch_name)) math += math_prototype(name);
  };
#define FERRY_SYMBOL(name, architectures) add(#name);
#include "module/symbols.def"
#undef FERRY_SYMBOL
  for (const char* name : {"rint", "nearbyint", "cbrt", "log10", "asinh", "acosh", "atanh"})
    math += math_prototype(name) + math_prototype(std::string(name) + "f");
  math += kOtherFunctions;
  math += kConstants;
  // The compiler implements these itself, under builtin names that no header defines.
  math += inline_function("fabs", "x", "") + inline_function("copysign", "x, y", "") + least_and_greatest(target);
  link::write_file(folder.file("math.h"), guarded(math) + classifications());
  link::write_file(
      folder.file("string.h"),
      guarded(
          "#include <stddef.h>\nvoid* memcpy(void*, const void*, size_t);\nvoid* memmove(void*, const void*, size_t);\n"
          "void* memset(void*, int, size_t);\nint memcmp(const void*, const void*, size_t);\n"));
}

}  // namespace ferry::foreign
