#include "crosscompile/export/c_text.h"

#include <algorithm>
#include <cctype>

namespace ferry::exported {
namespace {

using codegen::CArgument;
using codegen::CArgumentKind;
using codegen::CInterface;

const char* element_type(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::f16:
    case DType::bf16:
    case DType::u16: return "uint16_t";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::u8:
    case DType::boolean: return "uint8_t";
    case DType::u32: return "uint32_t";
    case DType::u64: return "uint64_t";
  }
  return "void";
}

std::string declaration(const FunctionInfo& function, const CArgument& argument) {
  if (argument.kind == CArgumentKind::size) return "int64_t " + argument.name;
  return c_type_of(function.parameters[argument.index]) + " " + argument.name;
}

std::string list(const FunctionInfo& function, const std::vector<CArgument>& arguments) {
  std::string text;
  for (const CArgument& argument : arguments) text += ", " + declaration(function, argument);
  return text;
}

// Text of a user, such as a name of a tensor, that cannot end a comment. '$' and '@' stand for something in templates.
std::string in_comment(std::string text) {
  for (char& c : text) c = c == '$' || c == '@' ? '_' : c;
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.replace(at, 2, "* /");
  for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) text.replace(at, 2, "/ *");
  return text;
}

const char* direction_text(Direction direction) {
  switch (direction) {
    case Direction::in: return "input";
    case Direction::out: return "output";
    case Direction::inout: return "input and output";
  }
  return "";
}

std::string shape_of(const FunctionInfo& function, const ParameterInfo& parameter) {
  std::string text = std::string(dtype_name(parameter.dtype)) + "[";
  for (const ManifestExpr& size : parameter.shape) {
    if (text.back() != '[') text += ", ";
    text += to_text(size, function.symbols);
  }
  return text + "]";
}

std::string argument_comments(const FunctionInfo& function, const std::vector<CArgument>& arguments) {
  std::string text;
  for (const CArgument& argument : arguments) {
    if (argument.kind == CArgumentKind::size) continue;
    const ParameterInfo& parameter = function.parameters[argument.index];
    text += "     " + argument.name + ": ";
    text += argument.kind == CArgumentKind::scalar
                ? std::string(dtype_name(parameter.dtype))
                : shape_of(function, parameter) + ", " + direction_text(parameter.direction) +
                      (parameter.strides.empty() ? "" : ", strided");
    text += "\n";
  }
  return in_comment(text);
}

std::string errors(const FunctionInfo& function) {
  std::string text = "/* Results of the functions. $_message() says what one means. */\nenum {\n  $_ok = 0";
  const auto add = [&](int code, std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    text += ",\n  $_error_" + name + " = " + std::to_string(code);
  };
#define FERRY_ADD(code, name, message) add(code, #name);
  FERRY_EXPORT_ERRORS(FERRY_ADD)
#undef FERRY_ADD
  text += "\n};\n";
  const std::vector<std::string> messages = codegen::positive_messages(function);
  if (!messages.empty()) {
    text += "/* Results above 0:\n";
    for (std::size_t i = 0; i < messages.size(); ++i)
      text += "     " + std::to_string(i + 1) + ": " + in_comment(messages[i]) + "\n";
    text += "*/\n";
  }
  return text;
}

}  // namespace

std::string c_type_of(const ParameterInfo& parameter) {
  const std::string element = element_type(parameter.dtype);
  if (parameter.kind == ParameterKind::scalar) return element;
  return (parameter.direction == Direction::in ? "const " : "") + element + "*";
}

std::string header_text(const CodeFacts& facts) {
  const FunctionInfo& function = facts.function;
  const CInterface& interface = facts.interface;
  std::string sizes;
  for (const CArgument& argument : interface.sizes) sizes += declaration(function, argument) + ", ";
  std::string text = "/* " + in_comment(signature_text(function)) + "\n   compiled by ferry for\n   " +
                     in_comment(facts.target) + R"(

   The functions allocate nothing and call only memcpy, memset and the like. An instance may be used by one thread at a
   time; any number of instances, each in an arena of its own, may be used at once. Tensors are dense and row-major, begin
   at any address that their elements may have, and do not overlap an output. */
#ifndef FERRY_EXPORT_$_H
#define FERRY_EXPORT_$_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

)" + errors(function) +
                     R"(
#define $_arena_alignment 64

typedef struct $_instance $_instance;
typedef struct $_threads $_threads;

/* Returns the bytes of an arena for calls of these sizes with so many threads; below 0: an error. An arena that is large
   enough for some sizes is so for all that need no more. */
int64_t $_arena_bytes(@int32_t threads);

)";
  text += "/* Makes an instance in the arena, which must stay where it is as long as the instance is used.\n";
  if (interface.has_weights_file)
    text +=
        "   weights: the contents of $.weights, which are read as long as the instance is used; aligned to 64 "
        "bytes.\n"
        "   Their length and a checksum are verified.\n";
  if (!interface.init.empty()) text += argument_comments(function, interface.init);
  text += "   threads: of $_threads_start(), or a null pointer for calls on the caller's thread alone. */\n";
  if (interface.has_weights_file)
    text += "#define $_weights_bytes INT64_C(" + std::to_string(facts.weights_bytes) + ")\n";
  text += "int32_t $_init(void* arena, int64_t arena_bytes";
  if (interface.has_weights_file) text += ", const void* weights, int64_t weights_bytes";
  text += list(function, interface.init) + ", $_threads* threads,\n    $_instance** instance);\n\n";
  text += "/* Computes the function.\n" + argument_comments(function, interface.run);
  text += "   Nothing is computed unless the sizes, the pointers and the arena are right. */\n";
  text += "int32_t $_run($_instance* instance" + list(function, interface.run) + ");\n";
  text += R"(
/* Returns what a result means, a text that need not be freed. */
const char* $_message(int32_t code);

/* Threads, which $_threads.o contains; link it with -pthread. The number includes the caller of $_run(), and is at
   most 1024. The memory is the caller's, aligned to 64 bytes, and must stay where it is until $_threads_stop(), which
   comes after the last use of all instances with these threads. */
int64_t $_threads_bytes(int32_t threads);
int32_t $_threads_start($_threads* memory, int64_t bytes, int32_t threads);
void $_threads_stop($_threads* threads);

#ifdef __cplusplus
}
#endif

#endif
)";
  const auto replace = [&](std::string_view what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
      text.replace(at, what.size(), with);
  };
  replace("@", sizes);
  replace("$", interface.name);
  return text;
}

}  // namespace ferry::exported
