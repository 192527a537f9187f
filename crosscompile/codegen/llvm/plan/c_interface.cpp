#include "crosscompile/codegen/llvm/plan/c_interface.h"

#include <algorithm>
#include <array>
#include <set>

namespace ferry::codegen {
namespace {

constexpr std::array kKeywords = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
    "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not",
    "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    // Macros of headers that such programs include.
    "NULL", "EOF", "I", "complex", "errno", "linux", "unix", "stdin", "stdout", "stderr", "BUFSIZ", "L_tmpnam",
    "SEEK_CUR", "SEEK_END", "SEEK_SET", "EXIT_FAILURE", "EXIT_SUCCESS", "typeof"};

// Names of the parameters that every function has, and of what the example declares and calls.
constexpr std::array kTaken = {"arena",  "arena_bytes",  "weights", "weights_bytes", "threads", "instance", "code",
                               "main",   "count",        "words",   "number",        "bytes",   "i",        "allocate",
                               "expect", "read_weights", "exit",    "printf",        "fprintf", "atoi"};

// Whether <stdint.h> or another header of C may give a name to a type or a macro: int64_t, INT64_MAX, UINT8_C.
bool is_of_headers(std::string_view name) {
  if (name.ends_with("_t")) return true;
  const bool is_upper = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  return is_upper && (name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C"));
}

// Names of parameters. They are neither names that the header and the example use, nor begin as those of the functions
// and types do.
class Names {
 public:
  explicit Names(const std::string& interface) : prefix_(interface + "_"), taken_(kTaken.begin(), kTaken.end()) {}
  std::string unique(std::string_view wanted) {
    std::string name = c_identifier(wanted);
    if (name.starts_with(prefix_)) name.insert(0, "x_");
    while (is_of_headers(name) || !taken_.insert(name).second) name += '_';
    return name;
  }

 private:
  std::string prefix_;
  std::set<std::string> taken_;
};

bool mentions(const ParameterInfo& parameter, std::size_t symbol) {
  const auto in = [&](const ManifestExpr& expr) {
    return std::ranges::any_of(expr.code, [&](const ManifestInstruction& instruction) {
      return instruction.op == ManifestOp::symbol && instruction.value == static_cast<std::int64_t>(symbol);
    });
  };
  return std::ranges::any_of(parameter.shape, in) || std::ranges::any_of(parameter.strides, in);
}

}  // namespace

std::string c_identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += fits ? c : '_';
  }
  // An underscore in front is reserved for the C library.
  if (name.empty() || name.front() == '_' || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "x");
  if (std::ranges::find(kKeywords, name) != kKeywords.end()) name += '_';
  return name;
}

CInterface c_interface(const FunctionInfo& function, const std::string& name, bool has_weights_file) {
  CInterface interface;
  interface.name = c_identifier(name);
  interface.has_weights_file = has_weights_file;
  Names names(interface.name);
  std::vector<std::string> parameters, symbols(function.symbols.size());
  for (const ParameterInfo& parameter : function.parameters) parameters.push_back(names.unique(parameter.name));
  std::vector<bool> is_scalar(symbols.size());
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const ParameterInfo& parameter = function.parameters[p];
      if (parameter.kind != ParameterKind::scalar || parameter.name != function.symbols[s]) continue;
      symbols[s] = parameters[p];
      is_scalar[s] = true;
    }
    if (!is_scalar[s]) symbols[s] = names.unique(function.symbols[s]);
    interface.sizes.push_back({CArgumentKind::size, s, symbols[s]});
  }
  std::vector<bool> of_constant(symbols.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    const CArgumentKind kind = parameter.kind == ParameterKind::tensor ? CArgumentKind::tensor : CArgumentKind::scalar;
    const bool binds = parameter.is_constant && needs_instance(function);
    (binds ? interface.init : interface.run).push_back({kind, p, parameters[p]});
    for (std::size_t s = 0; binds && s < symbols.size(); ++s) of_constant[s] = of_constant[s] || mentions(parameter, s);
  }
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    if (of_constant[s]) interface.init.push_back(interface.sizes[s]);
    if (!is_scalar[s]) interface.run.push_back(interface.sizes[s]);
  }
  return interface;
}

std::vector<std::string> exported_symbols(const CInterface& interface) {
  std::vector<std::string> symbols;
  for (const char* ending : {"_arena_bytes", "_init", "_run", "_message"}) symbols.push_back(interface.name + ending);
  return symbols;
}

std::vector<std::string> thread_symbols(const CInterface& interface) {
  std::vector<std::string> symbols;
  for (const char* ending : {"_threads_bytes", "_threads_start", "_threads_stop"})
    symbols.push_back(interface.name + ending);
  return symbols;
}

std::vector<std::string> positive_messages(const FunctionInfo& function) {
  std::vector<std::string> messages = function.messages;
  for (const Precondition& precondition : function.preconditions) {
    const std::string condition = "requires " + to_text(precondition.condition, function.symbols);
    messages.push_back(precondition.message.empty() ? condition : precondition.message + " (" + condition + ")");
  }
  return messages;
}

}  // namespace ferry::codegen
