#include "crosscompile/link/link.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/target/resolve.h"
#include "device-runtime/loader/elf_image.h"
#include "ferry/operators.h"
#include "ferry/runtime_api.h"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

namespace {

using namespace ferry;
using namespace ferry::ir;

// out[0] = tanh(value): the import needs a relocation.
Function one_call(const std::string& name) {
  auto out = std::make_shared<Buffer>();
  out->name = "out";
  out->dtype = DType::f32;
  out->shape = {Expr(1)};
  const Expr value = Var::make("value", Type(DType::f32));
  Function function;
  function.name = name;
  function.flat = true;
  function.parameters = {{"value", ParameterKind::scalar, Direction::in, nullptr, value},
                         {"out", ParameterKind::tensor, Direction::out, out, {}}};
  function.body = Store::make(out, {Expr(0)}, Call::make(Type(DType::f32), MathFunction::tanh, {value}));
  return function;
}

std::vector<std::uint8_t> linked(const std::string& target_text, const std::vector<std::string>& names,
                                 const std::vector<std::string>& exports) {
  const Target target = resolve_target(target_text);
  std::vector<Function> functions;
  for (const std::string& name : names) functions.push_back(one_call(name));
  return link::link_shared(codegen::emit_object(functions, target), target, exports);
}

float call(const device::ElfImage& image, const std::string& symbol, float value) {
  const auto function = image.function(symbol);
  REQUIRE_MESSAGE(function.is_ok(), function.status().message());
  float out = 0;
  void* arguments[] = {&value, &out};
  const ferry_runtime_api runtime{sizeof runtime, FERRY_ABI_VERSION, nullptr, nullptr, nullptr, nullptr};
  REQUIRE(reinterpret_cast<ferry_kernel>(function.value())(arguments, &runtime) == 0);
  return out;
}

}  // namespace

TEST_CASE("a linked object loads on a device and runs") {
  const auto image = device::ElfImage::load(linked("x86-64", {"f"}, {"ferry_fn_f"}));
  REQUIRE_MESSAGE(image.is_ok(), image.status().message());
  CHECK(call(image.value(), "ferry_fn_f", 0.5f) == doctest::Approx(0.46211716));
}

TEST_CASE("only what is exported can be found") {
  const auto image = device::ElfImage::load(linked("x86-64", {"f", "g"}, {"ferry_fn_g"}));
  REQUIRE(image.is_ok());
  CHECK(image.value().function("ferry_fn_g").is_ok());
  CHECK_FALSE(image.value().function("ferry_fn_f").is_ok());
}

TEST_CASE("every architecture links in this process, to the same bytes each time") {
  const std::pair<const char*, std::uint16_t> machines[] = {
      {"x86-64", EM_X86_64}, {"armv7", EM_ARM}, {"aarch64", EM_AARCH64}, {"riscv64", EM_RISCV}};
  for (const auto& [target, machine] : machines) {
    CAPTURE(std::string(target));
    const std::vector<std::uint8_t> bytes = linked(target, {"f"}, {"ferry_fn_f"});
    std::uint16_t got = 0;
    std::memcpy(&got, bytes.data() + 18, sizeof got);
    CHECK(got == machine);
    CHECK(bytes.size() < 6000);
    CHECK(linked(target, {"f"}, {"ferry_fn_f"}) == bytes);
  }
}

TEST_CASE("what lld refuses is reported in its words, and the next link works") {
  const Target target = resolve_target("x86-64");
  const std::vector<std::uint8_t> garbage(100, 0x7f);
  const std::vector<std::string> exports{"ferry_fn_f"};
  std::string message;
  try {
    link::link_shared(garbage, target, exports);
  } catch (const InternalError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find("lld failed: ") == 0);
  CHECK_FALSE(linked("x86-64", {"f"}, exports).empty());
}

TEST_CASE("several threads may compile and link at once") {
  const std::vector<std::uint8_t> expected = linked("aarch64", {"f"}, {"ferry_fn_f"});
  std::vector<std::vector<std::uint8_t>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i) result = linked("aarch64", {"f"}, {"ferry_fn_f"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == expected);
}
