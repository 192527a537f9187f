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
  math +=
      "#define INFINITY __builtin_inff()\n#define NAN __builtin_nanf(\"\")\n#define HUGE_VAL __builtin_huge_val()\n"
      "#define M_PI 3.14159265358979323846\n";
  // The compiler implements these itself, under builtin names that no header defines.
  math += inline_function("fabs", "x", "") + least_and_greatest(target);
  const std::string classes =
      "#ifdef __cplusplus\ntemplate <class T> inline bool isnan(T x) { return __builtin_isnan(x); }\n"
      "template <class T> inline bool isinf(T x) { return __builtin_isinf(x); }\n#else\n"
      "#define isnan(x) __builtin_isnan(x)\n#define isinf(x) __builtin_isinf(x)\n#endif\n";
  link::write_file(folder.file("math.h"), guarded(math) + classes);
  link::write_file(
      folder.file("string.h"),
      guarded(
          "#include <stddef.h>\nvoid* memcpy(void*, const void*, size_t);\nvoid* memmove(void*, const void*, size_t);\n"
          "void* memset(void*, int, size_t);\n"));
}

}  // namespace ferry::foreign
