#include "ferry/intrinsics.h"

#include "base/suggest.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"

#include <algorithm>
#include <utility>

namespace ferry {
namespace {

using namespace ir;

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void expect_count(std::size_t expected, std::size_t got) {
  if (expected != got) {
    throw CompileError("expected " + counted(expected, "argument") + ", got " + std::to_string(got));
  }
}

[[noreturn]] void refuse_argument(std::size_t index, const std::string& expected, DType got) {
  throw CompileError("argument " + std::to_string(index + 1) + ": expected " + expected + ", got " + dtype_name(got));
}

}  // namespace

IntrinsicTypeRule same_float_types(std::size_t arguments) {
  return [arguments](std::span<const DType> types) {
    expect_count(arguments, types.size());
    if (!is_float(types[0])) refuse_argument(0, "a float", types[0]);
    for (std::size_t i = 1; i < types.size(); ++i) {
      if (types[i] != types[0]) refuse_argument(i, dtype_name(types[0]), types[i]);
    }
    return types[0];
  };
}

IntrinsicTypeRule fixed_types(std::vector<DType> arguments, DType result) {
  return [arguments = std::move(arguments), result](std::span<const DType> types) {
    expect_count(arguments.size(), types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] != arguments[i]) refuse_argument(i, dtype_name(arguments[i]), types[i]);
    }
    return result;
  };
}

const Context::Intrinsic& Context::find(const std::string& name) const {
  const auto found = intrinsics_.find(name);
  if (found != intrinsics_.end()) return found->second;
  if (intrinsics_.empty()) throw CompileError("unknown intrinsic '" + name + "'; none is registered");
  throw CompileError(unknown_name("intrinsic", name, names()));
}

void Context::add_intrinsic(const std::string& name, IntrinsicTypeRule types) {
  if (name.empty() || !types) throw CompileError("an intrinsic needs a name and a rule for its type");
  if (knows(name)) throw CompileError("intrinsic '" + name + "' is registered already");
  intrinsics_.emplace(name, Intrinsic{std::move(types), {}});
}

void Context::add_rule(const std::string& name, IntrinsicRule rule) {
  find(name);
  if (!rule.lower) throw CompileError("a rule of intrinsic '" + name + "' needs a function that lowers a call");
  intrinsics_.at(name).rules.push_back(std::move(rule));
}

std::vector<std::string> Context::names() const {
  std::vector<std::string> all;
  for (const auto& [name, intrinsic] : intrinsics_) all.push_back(name);
  return all;
}

Expr Context::call(const std::string& name, std::vector<Expr> arguments) const {
  const Intrinsic& intrinsic = find(name);
  std::vector<DType> types;
  std::uint32_t lanes = 1;
  for (const Expr& argument : arguments) {
    types.push_back(argument.type().code);
    lanes = std::max(lanes, argument.type().lanes);
  }
  for (Expr& argument : arguments) {
    if (argument.type().is_scalar()) argument = Broadcast::make(argument, lanes);
  }
  try {
    const std::optional<MathFunction> math = find_math(name);
    const Callee callee = math ? Callee(*math) : Callee::intrinsic(name);
    return Call::make(Type(intrinsic.types(types), lanes), callee, std::move(arguments));
  } catch (const CompileError& error) {
    throw CompileError(name + ": " + error.what());
  }
}

const TensorIntrinsic* Context::tensor_intrinsic(const std::string& name) const {
  const auto found = tensor_intrinsics_.find(name);
  return found == tensor_intrinsics_.end() ? nullptr : &found->second;
}

std::vector<std::string> Context::tensor_intrinsic_names() const {
  std::vector<std::string> all;
  for (const auto& [name, intrinsic] : tensor_intrinsics_) all.push_back(name);
  return all;
}

void Context::add_object(std::string arch, std::vector<std::uint8_t> object) {
  objects_[std::move(arch)].push_back(std::move(object));
}

std::span<const std::vector<std::uint8_t>> Context::objects(const std::string& arch) const {
  const auto found = objects_.find(arch);
  if (found == objects_.end()) return {};
  return found->second;
}

}  // namespace ferry
