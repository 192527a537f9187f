// Tests "dot" and the instructions that implement it.
#include "crosscompile/passes/tensorize/dot_instructions.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

using namespace ferry;
using namespace ferry::codegen_test;
using passes::DotInstruction;

namespace {

constexpr std::int64_t kSteps = 6;

// Random bit patterns for integers; whole numbers for floats, so that the order of additions does not matter.
Bytes factors(DType dtype, std::size_t elements, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes;
  for (std::size_t i = 0; i < elements * dtype_bytes(dtype); ++i) bytes.push_back(static_cast<unsigned char>(random()));
  if (!is_float(dtype)) return bytes;
  for (std::size_t i = 0; i < elements; ++i) {
    const double value = static_cast<double>(random() % 33) - 16;
    const auto single = static_cast<float>(value);
    const std::uint16_t narrow = dtype == DType::f16 ? f64_to_f16(value) : f64_to_bf16(value);
    if (dtype == DType::f32) {
      std::memcpy(bytes.data() + i * 4, &single, 4);
    } else {
      std::memcpy(bytes.data() + i * 2, &narrow, 2);
    }
  }
  return bytes;
}

// sum += dot(repeated left, right) in kSteps steps, like the inner loop of a matrix product.
Case product(const DotInstruction& shape) {
  const std::int64_t width = shape.lanes * shape.group;
  const BufferRef sum = make_buffer("sum", shape.sum, shape.lanes);
  const BufferRef left = make_buffer("left", shape.left, kSteps * shape.group);
  const BufferRef right = make_buffer("right", shape.right, kSteps * width);
  const Expr k = Var::make("k");
  const Expr row = Load::make(left, {passes::repeated_index(k * Expr(std::int64_t{shape.group}), shape.group,
                                                            static_cast<std::uint32_t>(width))});
  const Expr panel = Load::make(right, {Ramp::make(k * Expr(width), 1, static_cast<std::uint32_t>(width))});
  Case one;
  one.function =
      make_function(std::string(shape.name),
                    {tensor(sum, Direction::inout), tensor(left, Direction::in), tensor(right, Direction::in)},
                    loop(k, Expr(kSteps), passes::dot_statement(shape, sum, Expr(0), row, panel)));
  one.arguments = {factors(shape.sum, shape.lanes, 1), factors(shape.left, kSteps * shape.group, 2),
                   factors(shape.right, static_cast<std::size_t>(kSteps * width), 3)};
  return one;
}

// Two steps of such a loop, whose right factors are never -128 if `is_above_minimum`, over all pairs of edges. The
// pairs of left factors begin at odd addresses.
Case two_products(bool is_above_minimum, std::uint32_t lanes) {
  constexpr std::int64_t kPairs = 36, kGroup = 2;
  const std::int64_t width = lanes * kGroup;
  const BufferRef sum = make_buffer("sum", DType::i32, lanes, Scope::local),
                  out = make_buffer("out", DType::i32, lanes);
  const BufferRef left = make_buffer("left", DType::i8, kPairs * kGroup + 1);
  auto right = std::make_shared<Buffer>(*make_buffer("right", DType::i8, kPairs * width));
  right->storage.above_minimum = is_above_minimum;
  const Expr k = Var::make("k"), at = Ramp::make(0, 1, lanes);
  const auto step = [&](int i) {
    const Expr now = k * Expr(2) + Expr(i);
    const Expr x = Load::make(
        left, {passes::repeated_index(now * Expr(kGroup) + Expr(1), kGroup, static_cast<std::uint32_t>(width))});
    const Expr w = Load::make(right, {Ramp::make(now * Expr(width), 1, static_cast<std::uint32_t>(width))});
    return Store::make(sum, {at}, Call::make(Type(DType::i32, lanes), CallOp::dot, {Load::make(sum, {at}), x, w}));
  };
  const Expr zero = Broadcast::make(ir::constant(DType::i32, std::int64_t{0}), lanes);
  Case one;
  one.function = make_function(
      "two", {tensor(out, Direction::out), tensor(left, Direction::in), tensor(right, Direction::in)},
      Allocate::make(
          sum, Block::make({Store::make(sum, {at}, zero), loop(k, Expr(kPairs / 2), Block::make({step(0), step(1)})),
                            Store::make(out, {at}, Load::make(sum, {at}))})));
  constexpr int kEdges[] = {-128, -127, -1, 0, 1, 127};
  Bytes x(1), w;
  for (std::int64_t i = 0; i < kPairs; ++i) {
    for (const std::int64_t edge : {i / 6, i % 6}) x.push_back(static_cast<unsigned char>(kEdges[edge]));
    for (std::int64_t e = 0; e < width; ++e) {
      const int edge = kEdges[(i + e + i / 6 * (e / kGroup)) % 6];
      w.push_back(static_cast<unsigned char>(is_above_minimum ? std::max(edge, -127) : edge));
    }
  }
  one.arguments = {codegen_test::zeros(DType::i32, lanes), x, w};
  return one;
}

std::vector<DotInstruction> shapes() {
  std::vector<DotInstruction> all(passes::dot_instructions().begin(), passes::dot_instructions().end());
  // Shapes and types that no target has an instruction for.
  all.push_back({"odd_lanes", nullptr, DType::i32, DType::i8, DType::i8, 5, 4});
  all.push_back({"wide", nullptr, DType::i32, DType::u8, DType::i8, 40, 4});
  all.push_back({"signed_wide", nullptr, DType::i32, DType::i8, DType::i8, 32, 4});
  all.push_back({"swapped", nullptr, DType::i32, DType::i8, DType::u8, 16, 4});
  all.push_back({"shorts", nullptr, DType::i32, DType::i16, DType::i16, 8, 2});
  all.push_back({"halves", nullptr, DType::f32, DType::f16, DType::f16, 8, 2});
  all.push_back({"brains", nullptr, DType::f32, DType::bf16, DType::bf16, 48, 2});
  all.push_back({"singles", nullptr, DType::f32, DType::f32, DType::f32, 4, 3});
  return all;
}

constexpr const char* kVnni = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512bf16";
constexpr const char* kDotprod = "llvm -mtriple=aarch64-linux-gnu -mattr=+dotprod,+i8mm";

std::string assembly_of(const DotInstruction& shape, const char* target) {
  const Target resolved = resolve_target(target);
  return codegen::emit_assembly(std::vector<Function>{passes::run_pipeline(product(shape).function, resolved)},
                                resolved);
}

}  // namespace

TEST_CASE("a dot computes the same on every architecture, with and without an instruction for it") {
  std::vector<Case> cases;
  for (const DotInstruction& shape : shapes()) cases.push_back(product(shape));
  check_everywhere(cases, true);
  check_on({kDotprod, {"qemu-aarch64", "-cpu", "max"}}, cases, true);
  const Target host = resolve_target("host");
  if (host.has("avx512vnni") && host.has("avx512bf16")) {
    check_on({kVnni, {}}, cases, true);
  } else {
    MESSAGE("not run: this machine has no avx512vnni and avx512bf16");
  }
}

TEST_CASE("pairs of bytes are added up exactly, two pairs at once where a factor is never -128") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {4, 8, 6})
    for (const bool is_above_minimum : {false, true}) cases.push_back(two_products(is_above_minimum, lanes));
  check_everywhere(cases, true);
  check_on({"raspberry-pi-3", {"qemu-aarch64", "-cpu", "cortex-a53"}}, cases, true);
  check_on({"raspberry-pi-5", {"qemu-aarch64", "-cpu", "max"}}, cases, true);
  check_on({"raspberry-pi-3-32bit", {"qemu-arm", "-cpu", "max"}}, cases, true);

  const struct {
    const char *target, *add, *accumulate;
  } expected[] = {{"raspberry-pi-4", "\tsmlal\tv", "\tsadalp\tv"},
                  {"raspberry-pi-2", "\tvmlal.s8\t", "\tvpadal.s16\t"},
                  {"raspberry-pi-4-32bit", "\tvmlal.s8\t", "\tvpadal.s16\t"}};
  for (const auto& e : expected)
    for (const bool is_above_minimum : {false, true}) {
      const Target target = resolve_target(e.target);
      const std::string text = codegen::emit_assembly(
          std::vector<Function>{passes::run_pipeline(two_products(is_above_minimum, 4).function, target)}, target);
      CAPTURE(text);
      CHECK((text.find(e.add) != std::string::npos) == is_above_minimum);
      CHECK(text.find(e.accumulate) != std::string::npos);
      // Pairs begin at odd addresses, where a load that claims an alignment traps.
      CHECK(text.find(":16]") == std::string::npos);
      CHECK(text.find("sqd") == std::string::npos);
      CHECK(text.find("vq") == std::string::npos);
    }
}

TEST_CASE("a dot statement means what the instruction's loops mean") {
  for (const DotInstruction& shape : shapes()) {
    CAPTURE(std::string(shape.name));
    const std::uint32_t width = shape.lanes * shape.group;
    const Function definition = passes::dot_definition(shape);
    Function statement = definition;
    const auto load = [&](std::size_t i) {
      return Load::make(definition.parameters[i].buffer, {Ramp::make(0, 1, width)});
    };
    statement.body = passes::dot_statement(shape, definition.parameters[0].buffer, Expr(0), load(1), load(2));
    std::vector<Bytes> first{factors(shape.sum, shape.lanes, 4), factors(shape.left, width, 5),
                             factors(shape.right, width, 6)};
    std::vector<Bytes> second = first;
    for (auto* one : {&first, &second}) {
      std::vector<void*> pointers;
      for (Bytes& bytes : *one) pointers.push_back(bytes.data());
      CHECK(interpret(one == &first ? definition : statement, pointers.data()) == 0);
    }
    CHECK(first == second);
  }
}

TEST_CASE("a matrix product's inner loop of dots is an instruction and a broadcast load") {
  const struct {
    const char* name;
    const char* target;
    const char* instruction;
    const char* broadcast = "";  // how it takes a group from memory
  } expected[] = {{"vpdpbusd_512", kVnni, "\tvpdpbusd\t(%"},
                  {"vdpbf16ps_512", kVnni, "\tvdpbf16ps\t", "){1to16}, %zmm"},
                  {"sdot", kDotprod, "\tsdot\tv"},
                  {"usdot", kDotprod, "\tusdot\tv"},
                  {"udot", kDotprod, "\tudot\tv"},
                  {"signed_wide", kVnni, "\tvpdpbusd\t"},
                  {"smull_sadalp", "raspberry-pi-4", "\tsadalp\tv"},
                  {"umull_uadalp", "raspberry-pi-4", "\tuadalp\tv"},
                  {"vmulls_vpadals", "raspberry-pi-2", "\tvpadal.s16\t"},
                  {"vmullu_vpadalu", "raspberry-pi-2", "\tvpadal.u16\t"},
                  {"shorts", kVnni, "\tvpdpwssd\t", "){1to8}, %ymm"},
                  {"shorts", "x86-64-v3", "\tvpmaddwd\t(%"}};
  for (const auto& e : expected) {
    for (const DotInstruction& shape : shapes()) {
      if (shape.name != e.name) continue;
      const std::string text = assembly_of(shape, e.target);
      CAPTURE(text);
      CHECK(text.find(e.instruction) != std::string::npos);
      CHECK(text.find(e.broadcast) != std::string::npos);
      // No lanes are inserted or extracted.
      CHECK(text.find("pinsr") == std::string::npos);
      CHECK(text.find("\tins\t") == std::string::npos);
    }
  }
}

TEST_CASE("the widest instruction that is not wider than the sum is taken") {
  const auto name = [](const char* target, std::uint32_t lanes) {
    const auto* found = passes::find_dot(resolve_target(target), DType::i32, DType::u8, DType::i8, lanes, 4);
    return found == nullptr ? std::string() : std::string(found->name);
  };
  CHECK(name(kVnni, 64) == "vpdpbusd_512");
  CHECK(name(kVnni, 12) == "vpdpbusd_256");
  CHECK(name(kVnni, 3) == "vpdpbusd_128");
  CHECK(name(kDotprod, 8) == "usdot");
  CHECK(name("x86-64-v4", 16) == "");
  const auto pairs = [](const char* target, std::uint32_t lanes) {
    return std::string(passes::find_dot(resolve_target(target), DType::i32, DType::i16, DType::i16, lanes, 2)->name);
  };
  CHECK(pairs(kVnni, 8) == "vpdpwssd_256");
  CHECK(pairs("x86-64-v4", 16) == "vpmaddwd_512");
  CHECK(pairs("x86-64-v4", 8) == "vpmaddwd_256");
  CHECK(pairs("x86-64-v3", 16) == "vpmaddwd_256");
  CHECK(pairs("x86-64", 4) == "vpmaddwd_128");
  CHECK(name("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -mattr=+avxvnni", 8) == "vpdpbusd_256");
}
