#include "crosscompile/codegen/source/names.h"

#include "crosscompile/codegen/source/helpers.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <array>

namespace ferry::codegen::source {
namespace {

constexpr std::string_view kReserved[] = {
    // C
    "alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do",
    "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef", "typeof",
    "union", "unsigned", "void", "volatile", "while",
    // C++, for CUDA
    "and", "and_eq", "bitand", "bitor", "catch", "class", "compl", "concept", "constexpr", "decltype", "delete",
    "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
    "or", "or_eq", "private", "protected", "public", "requires", "template", "this", "throw", "try", "typeid",
    "typename", "using", "virtual", "wchar_t", "xor", "xor_eq", "main",
    // OpenCL C
    "kernel", "global", "local", "constant", "private", "half", "uchar", "ushort", "uint", "ulong", "size_t",
    "read_only", "write_only", "read_write", "pipe", "barrier", "vload_half", "vstore_half", "event_t", "image2d_t",
    // CUDA C
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",
    // Declared or included by printed code
    "args", "rt", "begin", "end", "closure", "status", "f16", "bf16", "NAN", "INFINITY", "ferry_runtime_api", "memcpy",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t",
    "ptrdiff_t", "NULL", "linux", "unix",
    // The math library
    "abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "fabs", "floor",
    "fma", "fmod", "ldexp", "log", "log1p", "log2", "pow", "round", "sin", "sinh", "sqrt", "rsqrt", "tan", "tanh",
    "trunc", "min", "max", "clamp", "select", "mix", "step", "sign", "dot", "cross", "length", "distance", "normalize",
    "rint", "isnan", "isinf", "fmin", "fmax", "mad", "hypot", "cbrt", "popcount", "clz"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Matches float4, int8, uchar16: the vector types of OpenCL and CUDA.
bool is_vector_type(std::string_view word) {
  constexpr std::string_view kElements[] = {"char",  "uchar", "short",  "ushort", "int",      "uint",     "long",
                                            "ulong", "float", "double", "half",   "longlong", "ulonglong"};
  constexpr std::string_view kLanes[] = {"1", "2", "3", "4", "8", "16"};
  return std::any_of(std::begin(kElements), std::end(kElements), [&](std::string_view element) {
    return word.starts_with(element) &&
           std::find(std::begin(kLanes), std::end(kLanes), word.substr(element.size())) != std::end(kLanes);
  });
}

}  // namespace

std::string identifier(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += is_letter(c) || is_digit(c) ? c : '_';
  if (name.empty() || is_digit(name[0])) name = "x" + name;
  // Names that begin with an underscore are reserved for the compiler.
  if (name[0] == '_') name = "x" + name;
  return name;
}

bool is_reserved(const std::string& word) {
  const auto listed = [](std::string_view name) {
    return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
  };
  if (listed(word) || is_vector_type(word) || is_helper(word)) return true;
  // The float variants of the library's functions.
  return word.size() > 1 && word.back() == 'f' && listed(std::string_view(word).substr(0, word.size() - 1));
}

void Names::close() {
  for (const void* identity : scopes_.back().identities) names_.erase(identity);
  for (const std::string& word : scopes_.back().identifiers) taken_.erase(word);
  scopes_.pop_back();
}

std::string Names::declare(const void* identity, const std::string& wanted) {
  const std::string plain = identifier(wanted);
  std::string name = plain;
  for (int number = 1; is_reserved(name) || !taken_.insert(name).second; ++number)
    name = plain + "_" + std::to_string(number);
  scopes_.back().identifiers.push_back(name);
  if (identity == nullptr) return name;
  if (!names_.emplace(identity, name).second) throw InternalError("'" + wanted + "' is declared inside its own scope");
  scopes_.back().identities.push_back(identity);
  return name;
}

const std::string& Names::of(const void* identity, const std::string& what) const {
  const auto found = names_.find(identity);
  if (found == names_.end()) throw InternalError("'" + what + "' is printed where it is not declared");
  return found->second;
}

}  // namespace ferry::codegen::source
