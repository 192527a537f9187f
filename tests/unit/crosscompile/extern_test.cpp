// Tests of modules whose kernels call C functions.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/target/resolve.h"
#include "ferry/intrinsics.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>

using namespace ferry;
using namespace ferry::ir;

namespace {

// A kernel that passes the address of its result to a C function.
Function calling(const std::string& name, const std::string& symbol, std::shared_ptr<const Context> context = {}) {
  auto out = std::make_shared<Buffer>();
  out->name = "out";
  out->shape = {Expr(4)};
  Function function;
  function.name = name;
  function.parameters = {{"out", ParameterKind::tensor, Direction::out, out, {}}};
  function.body = make_extern_call(symbol, {address_of(out, {Expr(0)}), Expr(4)});
  function.context = std::move(context);
  return function;
}

// A position-independent object that defines "ferry_fn_helper", which calls `symbol`.
std::vector<std::uint8_t> object_calling(const std::string& symbol, const Target& target) {
  Function helper = calling("helper", symbol);
  helper.flat = true;
  return codegen::emit_object(std::vector<Function>{helper}, target);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

void compile(const Function& function, const Target& target) {
  compile_module(std::vector<Function>{function}, target, {});
}

}  // namespace

TEST_CASE("the call of a C function shows addresses and numbers, and knows its name") {
  const Function function = calling("f", "helper");
  CHECK(to_text(function.body) == "helper(address_of(out[0]), 4);\n");
  CHECK(extern_functions(function.body) == std::vector<std::string>{"helper"});
}

TEST_CASE("a C function that no object for the target defines is named") {
  const Target arm = resolve_target("aarch64"), here = resolve_target("x86-64");
  const auto context = std::make_shared<Context>();
  context->add_object("x86_64", object_calling("memset", here));
  CHECK(refusal([&] { compile(calling("f", "ferry_fn_helper", context), here); }) == "nothing was refused");
  CHECK(refusal([&] { compile(calling("f", "ferry_fn_helper", context), arm); }) ==
        "expected an object for aarch64 that defines the C function 'ferry_fn_helper', got none");
  CHECK(refusal([&] { compile(calling("f", "other", context), here); }) ==
        "expected an object for x86_64 that defines the C function 'other', got none");
}

TEST_CASE("an object that needs what devices do not offer is refused") {
  const Target here = resolve_target("x86-64");
  const auto context = std::make_shared<Context>();
  context->add_object("x86_64", object_calling("printf", here));
  CHECK(refusal([&] { compile(calling("f", "ferry_fn_helper", context), here); }) ==
        "expected objects for x86_64 that call only what devices offer, got one that calls 'printf'");
}

TEST_CASE("an object that is none is refused in the linker's words") {
  const auto context = std::make_shared<Context>();
  context->add_object("x86_64", {1, 2, 3});
  const std::string text = refusal([&] { compile(calling("f", "memset", context), resolve_target("x86-64")); });
  INFO(text);
  CHECK(text.starts_with("cannot link the objects of C functions: "));
}
