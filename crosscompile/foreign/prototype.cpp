#include "crosscompile/foreign/prototype.h"

#include <algorithm>

#include "crosscompile/codegen/llvm/target/adapter.h"
#include "crosscompile/ir/c_type_name.h"
#include "crosscompile/ir/error.h"
#include "ferry/expr.h"

namespace ferry::foreign {
namespace {

using link::DeclaredFunction;
using link::DeclaredType;
using Kind = DeclaredType::Kind;

// A parameter that the signature expects.
struct Expected {
  std::string name;
  DType dtype = DType::i64;
  bool is_pointer = false, is_written = false, is_size = false;
};

std::vector<Expected> expected_parameters(const Signature& signature) {
  const FunctionInfo& function = signature.function;
  std::vector<Expected> all;
  for (const codegen::PassedArgument& argument : signature.passed) {
    if (argument.is_size) {
      all.push_back({function.symbols[argument.index], argument.dtype, false, false, true});
      continue;
    }
    const ParameterInfo& parameter = function.parameters[argument.index];
    const bool is_tensor = parameter.kind == ParameterKind::tensor;
    all.push_back(
        {parameter.name, parameter.dtype, is_tensor, is_tensor && parameter.direction != Direction::in, false});
  }
  return all;
}

std::string c_text(const Expected& parameter) {
  const std::string type = ir::c_type_name(parameter.dtype);
  if (!parameter.is_pointer) return type + " " + parameter.name;
  return (parameter.is_written ? "" : "const ") + type + "* " + parameter.name;
}

// Returns whether the bits have the same meaning. Signed and unsigned integers of one width are interchangeable, and so
// are narrow floats and the integers that hold them. What pointers to void and to structures point to is the user's
// responsibility.
bool fits(const DeclaredType& type, const Expected& expected) {
  if (type.is_pointer != expected.is_pointer) return false;
  const std::uint64_t bits = dtype_bytes(expected.dtype) * 8;
  const bool is_narrow = ir::Type(expected.dtype).is_narrow_float();
  switch (type.kind) {
    case Kind::nothing:
    case Kind::structure: return type.is_pointer;
    case Kind::other: return false;
    case Kind::integer: return type.bits == bits && (!is_float(expected.dtype) || (type.is_pointer && is_narrow));
    case Kind::real: return type.bits == bits && is_float(expected.dtype) && expected.dtype != DType::bf16;
    case Kind::brain: return expected.dtype == DType::bf16;
  }
  return false;
}

// Returns "status", or "status (short)" for a typedef.
std::string declared_text(const DeclaredType& type, const std::string& name = {}) {
  return type.text + (name.empty() ? "" : " " + name) + (type.meaning.empty() ? "" : " (" + type.meaning + ")");
}

// Returns "f.c:5: ", or "f.ll: " where the line is not known.
std::string place(const std::string& file, const DeclaredFunction& prototype) {
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const bool is_elsewhere = !prototype.file.empty() && base(prototype.file) != base(file);
  return (is_elsewhere ? prototype.file : file) + (prototype.line == 0 ? "" : ":" + std::to_string(prototype.line)) +
         ": ";
}

std::string prototype_text(const Signature& signature, const std::vector<Expected>& expected) {
  std::string text = (signature.returns_status ? "int32_t " : "void ") + signature.c_name + "(";
  for (std::size_t i = 0; i < expected.size(); ++i) text += (i == 0 ? "" : ", ") + c_text(expected[i]);
  return text + ")";
}

void check_count(const DeclaredFunction& prototype, const std::vector<Expected>& expected, const Signature& signature,
                 const std::string& file) {
  const std::size_t got = prototype.parameters.size();
  if (got == expected.size()) return;
  std::string message = place(file, prototype) + signature.c_name + ": expected " + std::to_string(expected.size()) +
                        " parameters, got " + std::to_string(got);
  if (got < expected.size()) {
    const Expected& missing = expected[got];
    message += "; " + std::string(missing.is_size ? "the size " : "") + c_text(missing) + " is missing";
  }
  throw CompileError(message + "; its signature means " + prototype_text(signature, expected));
}

void check_parameter(const DeclaredFunction& prototype, std::size_t index, const std::vector<Expected>& expected,
                     const Signature& signature, const std::string& file) {
  const DeclaredFunction::Parameter& got = prototype.parameters[index];
  const Expected& wanted = expected[index];
  const std::string what = place(file, prototype) + "parameter " + std::to_string(index + 1) + " of " +
                           signature.c_name + ": expected " + c_text(wanted);
  const std::string shown = declared_text(got.type, got.name);
  const bool is_constant = wanted.is_written && got.type.is_constant;
  if (!fits(got.type, wanted) || is_constant) {
    throw CompileError(what + ", got " + shown + (is_constant ? ", which cannot be written" : "") +
                       "; its signature means " + prototype_text(signature, expected));
  }
  for (std::size_t other = 0; other < expected.size(); ++other) {
    if (other == index || got.name.empty() || got.name != expected[other].name) continue;
    throw CompileError(what + ", got " + shown + ", which the signature has as parameter " + std::to_string(other + 1) +
                       ": expected them in one order");
  }
}

void check_result(const DeclaredFunction& prototype, const Signature& signature, const std::string& file) {
  const DeclaredType& got = prototype.returns;
  const Expected status{"", DType::i32, false, false, false};
  if (signature.returns_status && !fits(got, status)) {
    throw CompileError(place(file, prototype) + signature.c_name +
                       ": expected it to return int32_t, as its signature says, got " + declared_text(got));
  }
  // The caller would have to provide memory for it.
  if (!got.is_pointer && got.kind == Kind::structure) {
    throw CompileError(place(file, prototype) + signature.c_name + ": expected it to return nothing or a number, got " +
                       declared_text(got));
  }
}

}  // namespace

void check_prototype(const DeclaredFunction& prototype, const Signature& signature, const std::string& file) {
  const std::vector<Expected> expected = expected_parameters(signature);
  // Types are checked first: a surplus or missing parameter is best reported at the first that does not match, and by
  // its count only when all present ones match.
  const std::size_t both = std::min(expected.size(), prototype.parameters.size());
  for (std::size_t i = 0; i < both; ++i) check_parameter(prototype, i, expected, signature, file);
  check_count(prototype, expected, signature, file);
  check_result(prototype, signature, file);
}

}  // namespace ferry::foreign
