#include "crosscompile/compile.h"

#include "crosscompile/backend/native/native_backend.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/target/resolve.h"
#include "device-runtime/loader/elf_image.h"
#include "ferry/operators.h"
#include "ferry/runtime_api.h"
#include "module/module_file.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace {

using namespace ferry;
using namespace ferry::ir;

BufferRef buffer(const std::string& name, DType dtype, std::vector<Expr> shape, Scope scope = Scope::parameter) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

// C[i, j] = A[i, j] * factor + B[j], computed through a row in the workspace.
Function scaled_add(const std::string& name = "scaled_add") {
  const Expr n = Var::make("N"), m = Var::make("M"), i = Var::make("i"), j = Var::make("j"), k = Var::make("k");
  const Expr factor = Var::make("factor", Type(DType::f32));
  const BufferRef a = buffer("A", DType::f32, {n, m}), b = buffer("B", DType::f32, {m}),
                  c = buffer("C", DType::f32, {n, m}), row = buffer("row", DType::f32, {m}, Scope::global);
  const Stmt fill = For::make(j, Expr(0), m, ForKind::serial, Store::make(row, {j}, Load::make(a, {i, j}) * factor));
  const Stmt finish =
      For::make(k, Expr(0), m, ForKind::serial, Store::make(c, {i, k}, Load::make(row, {k}) + Load::make(b, {k})));
  Function function;
  function.name = name;
  function.parameters = {{"A", ParameterKind::tensor, Direction::in, a, {}},
                         {"B", ParameterKind::tensor, Direction::in, b, {}},
                         {"factor", ParameterKind::scalar, Direction::in, nullptr, factor},
                         {"C", ParameterKind::tensor, Direction::out, c, {}}};
  function.symbols = {n, m};
  function.requirements = {{n <= m * Expr(4) || !(n > Expr(100)), "N must not be much larger than M"}};
  function.flops = n * m * Expr(2);
  function.body = For::make(i, Expr(0), n, ForKind::parallel, Allocate::make(row, Block::make({fill, finish})));
  return function;
}

ModuleFile compiled(const std::string& target, const std::vector<Function>& functions) {
  const auto module =
      read_module(compile_module(functions, resolve_target(target), {"the source", "the schedule"}).bytes);
  REQUIRE_MESSAGE(module.is_ok(), module.status().message());
  return module.value();
}

std::int64_t value_of(const ManifestExpr& expr, std::vector<std::int64_t> symbols) {
  const auto value = evaluate(expr, symbols);
  REQUIRE_MESSAGE(value.is_ok(), value.status().message());
  return value.value();
}

int32_t run_all(const ferry_runtime_api*, int64_t n, int64_t, ferry_parallel_body body, void* closure) {
  return body(0, n, closure);
}
alignas(64) char workspace_bytes[4096];
void* give_workspace(const ferry_runtime_api*, int32_t) { return workspace_bytes; }

}  // namespace

TEST_CASE("a module says how to call it and what it needs") {
  const ModuleFile module = compiled("x86-64-v3", {scaled_add()});
  CHECK(module.source == "the source");
  CHECK(module.schedule == "the schedule");
  const ModuleDevice& device = module.manifest.devices.front();
  CHECK(device.kind == "cpu");
  CHECK(device.arch == "x86_64");
  CHECK(module.manifest.abi_version == FERRY_ABI_VERSION);
  CHECK(module.manifest.target == "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v3");
  const std::vector<std::string>& features = device.features;
  CHECK(std::is_sorted(features.begin(), features.end()));
  CHECK(std::find(features.begin(), features.end(), "avx2") != features.end());
  CHECK(std::find(features.begin(), features.end(), "avx512f") == features.end());
  REQUIRE(module.manifest.functions.size() == 1);
  const FunctionInfo& info = module.manifest.functions[0];
  CHECK(signature_text(info) == "scaled_add(in f32[N,M] A, in f32[M] B, in f32 factor, out f32[N,M] C)");
  CHECK(value_of(info.flops, {3, 5}) == 30);
  const NativeCode code = native_code(info).value();
  CHECK(value_of(code.thread_workspace, {3, 5}) >= 20);
  CHECK(code.call_workspace.code.empty());
  REQUIRE(info.preconditions.size() == 1);
  CHECK(value_of(info.preconditions[0].condition, {401, 100}) == 0);
  CHECK(value_of(info.preconditions[0].condition, {100, 1}) == 1);
  CHECK(info.preconditions[0].message == "N must not be much larger than M");
}

TEST_CASE("a module's bytes do not depend on the number of processors that compile it") {
  std::vector<Function> functions;
  for (int i = 0; i < 24; ++i) functions.push_back(scaled_add("f" + std::to_string(i)));
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  unsigned first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  for (const char* target : {"x86-64-v3", "armv7", "aarch64"}) {
    CAPTURE(target);
    const auto parallel = compile_module(functions, resolve_target(target)).bytes;
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    const auto serial = compile_module(functions, resolve_target(target)).bytes;
    REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
    CHECK(serial == parallel);
    CHECK(compile_module(functions, resolve_target(target)).bytes == parallel);
  }
}

TEST_CASE("two functions of one name are refused") {
  for (const int others : {1, 30}) {
    std::vector<Function> functions{scaled_add()};
    for (int i = 0; i < others; ++i) functions.push_back(scaled_add("other" + std::to_string(i)));
    CHECK_NOTHROW(compile_module(functions, resolve_target("x86-64"), {}));
    functions.push_back(scaled_add());
    CHECK_THROWS_AS(compile_module(functions, resolve_target("x86-64"), {}), CompileError);
  }
}

TEST_CASE("a compiled module runs") {
  const ModuleFile module = compiled("x86-64", {scaled_add()});
  REQUIRE(module.images.size() == 1);
  CHECK(module.images[0].kind == ImageKind::elf);
  const auto image = device::ElfImage::load(module.images[0].bytes);
  REQUIRE_MESSAGE(image.is_ok(), image.status().message());
  const auto function = image.value().function(native_code(module.manifest.functions[0]).value().symbol);
  REQUIRE_MESSAGE(function.is_ok(), function.status().message());

  std::int64_t n = 2, m = 3;
  alignas(64) float a[] = {1, 2, 3, 4, 5, 6};
  alignas(64) float b[] = {10, 20, 30};
  alignas(64) float c[6] = {};
  float factor = 2;
  void* arguments[] = {a, b, &factor, c, &n, &m};
  const ferry_runtime_api runtime{sizeof runtime, FERRY_ABI_VERSION, run_all, give_workspace, nullptr, nullptr};
  CHECK(reinterpret_cast<ferry_kernel>(function.value())(arguments, &runtime) == 0);
  const float expected[] = {12, 24, 36, 18, 30, 42};
  for (int i = 0; i < 6; ++i) CHECK(c[i] == expected[i]);
}

TEST_CASE("objects are compiled for systems that no rpc_server runs on, and modules are not") {
  const struct {
    const char* target;
    std::vector<std::uint8_t> begin;  // the first bytes of the file format
  } kTargets[] = {{"x86_64-apple-darwin", {0xcf, 0xfa, 0xed, 0xfe}},
                  {"arm64-apple-macosx", {0xcf, 0xfa, 0xed, 0xfe}},
                  {"x86_64-pc-windows-msvc", {0x64, 0x86}},
                  {"wasm32-unknown-unknown", {0, 'a', 's', 'm'}},
                  {"armv6k-linux-gnueabi", {0x7f, 'E', 'L', 'F', 1}},
                  {"aarch64-linux-android", {0x7f, 'E', 'L', 'F', 2}},
                  {"i686-linux-gnu", {0x7f, 'E', 'L', 'F', 1, 1}},
                  {"mips-linux-gnu", {0x7f, 'E', 'L', 'F', 1, 2}},
                  {"mips64el-linux-gnuabi64", {0x7f, 'E', 'L', 'F', 2}},
                  {"powerpc64le-linux-gnu", {0x7f, 'E', 'L', 'F', 2}},
                  {"s390x-linux-gnu", {0x7f, 'E', 'L', 'F', 2, 2}},
                  {"loongarch64-linux-gnu", {0x7f, 'E', 'L', 'F', 2}},
                  {"riscv32-unknown-elf", {0x7f, 'E', 'L', 'F', 1}}};
  const std::vector<Function> functions{scaled_add()};
  for (const auto& expected : kTargets) {
    CAPTURE(std::string(expected.target));
    const Target target = resolve_target(expected.target);
    const std::vector<std::uint8_t> object = compile_object(functions, target, {});
    REQUIRE(object.size() > expected.begin.size());
    CHECK(std::equal(expected.begin.begin(), expected.begin.end(), object.begin()));
    CHECK_FALSE(module_of_object(object, "scaled_add.o").has_value());
    CHECK_THROWS_WITH_AS(compile_module(functions, target, {}), doctest::Contains("expected a target that rpc_server"),
                         CompileError);
  }
}

TEST_CASE("an object that was compiled for a device becomes the module that would have been compiled") {
  const std::vector<Function> functions{scaled_add("first"), scaled_add("second")};
  for (const char* name : {"x86-64-v3", "armv7", "raspberry-pi-4", "riscv64"}) {
    CAPTURE(std::string(name));
    const Target target = resolve_target(name);
    const auto object = compile_object(functions, target, {"the source", "the schedule"});
    const auto module = module_of_object(object, "two.o");
    REQUIRE(module.has_value());
    CHECK(*module == compile_module(functions, target, {"the source", "the schedule"}).bytes);
    // Nothing is taken from an object whose description was damaged.
    std::vector<std::uint8_t> damaged = object;
    const std::string source = "the source";
    const auto at = std::search(damaged.begin(), damaged.end(), source.begin(), source.end());
    REQUIRE(at != damaged.end());
    *at = 'T';
    CHECK_THROWS_AS(module_of_object(damaged, "two.o"), CompileError);
  }
}

TEST_CASE("the same input gives the same module, on every thread") {
  for (const char* name : {"x86-64-v4", "armv7", "raspberry-pi-4", "riscv64-v"}) {
    CAPTURE(std::string(name));
    const Target target = resolve_target(name);
    const std::vector<Function> functions{scaled_add("first"), scaled_add("second")};
    std::vector<std::vector<std::uint8_t>> modules(3);
    std::vector<std::thread> threads;
    for (auto& module : modules) {
      threads.emplace_back([&] { module = compile_module(functions, target, {"source", ""}).bytes; });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(modules[0] == modules[1]);
    CHECK(modules[0] == modules[2]);
    // Two small kernels fit into this size.
    CHECK(modules[0].size() < 12000);
  }
}

TEST_CASE("on a 32-bit device sizes must fit its counters, and the manifest says so") {
  const ModuleFile module = compiled("armv7", {scaled_add()});
  const FunctionInfo& info = module.manifest.functions[0];
  REQUIRE(info.preconditions.size() == 3);
  CHECK(info.preconditions[1].message == "N must be below 2^31 on a 32-bit device");
  CHECK(value_of(info.preconditions[1].condition, {1000, 1}) == 1);
  CHECK(value_of(info.preconditions[1].condition, {std::int64_t{1} << 31, 1}) == 0);
  CHECK(value_of(info.preconditions[2].condition, {1, -(std::int64_t{1} << 31)}) == 0);
}

TEST_CASE("a requirement that divides by a size means what it means in a kernel, also where that is 0") {
  Function function = scaled_add();
  const Expr n = function.symbols[0], m = function.symbols[1];
  function.requirements = {{n / m == Expr(0), "quotient"}, {n % m == Expr(0), "rest"}, {n / (m - n) < m, "nested"}};
  function.parameters[3].buffer = buffer("C", DType::f32, {n / m, n});
  const FunctionInfo info = describe_function(function);
  CHECK(value_of(info.preconditions[0].condition, {5, 0}) == 1);
  CHECK(value_of(info.preconditions[0].condition, {5, 5}) == 0);
  CHECK(value_of(info.preconditions[0].condition, {5, 6}) == 1);
  CHECK(value_of(info.preconditions[1].condition, {5, 0}) == 1);
  CHECK(value_of(info.preconditions[1].condition, {5, 3}) == 0);
  CHECK(value_of(info.preconditions[1].condition, {6, 3}) == 1);
  CHECK(value_of(info.preconditions[2].condition, {4, 4}) == 1);
  CHECK(value_of(info.preconditions[2].condition, {7, 8}) == 1);
  CHECK(value_of(info.preconditions[2].condition, {9, 8}) == 1);
  // No call can have such a shape.
  CHECK(!evaluate(info.parameters[3].shape[0], std::vector<std::int64_t>{5, 0}).is_ok());
}

TEST_CASE("a shape that no manifest can carry is refused with the function and the tensor") {
  Function function = scaled_add();
  const Expr n = function.symbols[0];
  function.parameters[3].buffer = buffer("C", DType::f32, {n ^ Expr(1), n});
  CHECK_THROWS_WITH_AS(describe_function(function),
                       "scaled_add: shape of 'C': expected integer arithmetic over sizes, got N ^ 1", CompileError);
}

TEST_CASE("two functions of one name do not make a module") {
  CHECK_THROWS_AS(compile_module(std::vector<Function>{scaled_add(), scaled_add()}, resolve_target("x86-64"), {}),
                  CompileError);
}
