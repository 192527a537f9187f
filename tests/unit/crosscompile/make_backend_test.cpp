#include "crosscompile/make_backend.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace ferry;

namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

std::string forms(const Backend& backend) {
  std::string text;
  if (backend.has_text(TextForm::source)) text += " source";
  if (backend.has_text(TextForm::ptx)) text += " ptx";
  if (backend.has_text(TextForm::llvm)) text += " llvm";
  if (backend.has_text(TextForm::assembly)) text += " assembly";
  return text;
}

// out[t] = t by one block of so many threads.
ir::Function of_threads(std::int64_t threads) {
  auto out = std::make_shared<ir::Buffer>();
  out->name = "out";
  out->dtype = DType::i32;
  out->shape = {ir::Expr(threads)};
  out->scope = ir::Scope::parameter;
  const ir::Expr t = ir::Var::make("t");
  ir::Function function;
  function.name = "f";
  function.parameters = {{"out", ParameterKind::tensor, Direction::out, out, {}}};
  function.body = ir::For::make(t, ir::Expr(0), ir::Expr(threads), ir::ForKind::thread_x,
                                ir::Store::make(out, {t}, ir::Cast::make(DType::i32, t)));
  return function;
}

}  // namespace

TEST_CASE("a backend says of a function whether its devices can run it, and why not") {
  const auto why_not = [](const char* target, std::int64_t threads) {
    const Status status = make_backend(resolve_target(target))->supports(of_threads(threads));
    return status.is_ok() ? std::string("none") : status.message();
  };
  CHECK(why_not("opencl -max_threads_per_block=64", 64) == "none");
  CHECK(why_not("cuda -arch=sm_80", 1024) == "none");
  CHECK(why_not("cuda -arch=sm_80", 1025).find("'f': expected at most 1,024 threads in a block") == 0);
  CHECK(why_not("opencl -max_threads_per_block=64", 65).find("'f': expected at most 64 threads in a block") == 0);
}

TEST_CASE("each kind of target shows its code in its own forms") {
  struct Case {
    const char* target;
    const char* forms;
    const char* extension;
  };
  const Case cases[] = {
      {"x86-64", " llvm assembly", ""},
      {"armv7", " llvm assembly", ""},
      {"aarch64", " llvm assembly", ""},
      {"riscv64", " llvm assembly", ""},
      {"c", " source", ".c"},
      {"cuda", " source ptx", ".cu"},
      {"opencl", " source", ".cl"},
      {"llvm -mtriple=i386-linux-gnu", " llvm assembly", ""},
      {"wasm32-unknown-unknown", " llvm assembly", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.target));
    const auto backend = make_backend(resolve_target(c.target));
    CHECK(forms(*backend) == c.forms);
    CHECK(backend->source_extension() == std::string(c.extension));
  }
}

TEST_CASE("modules are made for what an rpc_server drives, and for nothing else") {
  const auto why_not = [](const char* target) {
    return refusal([&] { make_backend(resolve_target(target))->check_supports_modules(); });
  };
  for (const char* target : {"x86-64", "armv7", "aarch64", "riscv64", "cuda", "opencl"})
    CHECK(why_not(target) == "none");
  CHECK(why_not("c") ==
        "expected a target that modules are made for, got 'c': 'ferry compile --target c' writes a text");
  CHECK(why_not("wasm32-unknown-unknown").find("expected a target that rpc_server runs on") == 0);
}

TEST_CASE("only a backend with machine code makes objects") {
  for (const char* target : {"c", "cuda -arch=sm_80", "opencl"})
    CHECK(refusal([&] { (void)make_backend(resolve_target(target))->object({}, {}); }) ==
          "expected a target with machine code, got '" + std::string(target) + "'");
}
