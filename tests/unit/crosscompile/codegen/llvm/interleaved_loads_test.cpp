// Strided loads that read a range together: what they read, what they leave alone, and how often.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

Expr ramp(const Expr& base, std::int64_t stride, std::uint32_t lanes) { return Ramp::make(base, Expr(stride), lanes); }

// Stores vector after vector in[i * step + offset + stride * lane], for all the offsets, in the iterations i of a loop.
struct Windows {
  DType dtype = DType::f32;
  std::uint32_t lanes = 16;
  std::int64_t stride = 2, iterations = 1;
  std::vector<std::int64_t> offsets;

  std::int64_t step() const { return std::abs(stride) * lanes; }
  std::int64_t stored() const { return static_cast<std::int64_t>(offsets.size()) * lanes; }
  // From the lowest element that is read to behind the highest one.
  std::int64_t elements() const {
    return (iterations - 1) * step() + *std::max_element(offsets.begin(), offsets.end()) +
           std::abs(stride) * (lanes - 1) + 1;
  }

  // The lowest element that is read is the tensor's number `first`.
  Function function(std::int64_t first, std::int64_t in_elements) const {
    const BufferRef in = make_buffer("in", dtype, in_elements), out = make_buffer("out", dtype, iterations * stored());
    const Expr i = Var::make("i");
    std::vector<Stmt> stores;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const std::int64_t at = first + offsets[k] + (stride < 0 ? -stride * (lanes - 1) : 0);
      const Expr base = at == 0 ? i * Expr(step()) : i * Expr(step()) + Expr(at);
      stores.push_back(store(out, ramp(i * Expr(stored()) + Expr(static_cast<std::int64_t>(k) * lanes), 1, lanes),
                             load(in, ramp(base, stride, lanes))));
    }
    return make_function("windows", {tensor(in, Direction::in), tensor(out, Direction::out)},
                         loop(i, Expr(iterations), Block::make(std::move(stores))));
  }

  // At the start of the tensor or at its end, with nothing behind.
  Case at_edge(bool at_end) const {
    const std::int64_t whole = (elements() + 63) / 64 * 64;
    return {function(at_end ? whole - elements() : 0, whole),
            {edge_bytes(dtype, static_cast<std::size_t>(whole)),
             zeros(dtype, static_cast<std::size_t>(iterations * stored()))}};
  }
};

std::size_t count(const Function& function, const std::string& target, const char* pattern) {
  Function flat = function;
  flat.flat = true;
  std::istringstream lines(codegen::emit_assembly(std::vector<Function>{flat}, resolve_target(target)));
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) found += std::regex_search(line, std::regex(pattern)) ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("strided loads beside each other read the right elements and none beyond the buffer") {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::u16, DType::i64, DType::i8})
    for (const std::uint32_t lanes : {2u, 3u, 8u, 16u})
      for (const std::int64_t stride : {-4, -2, 2, 3, 4})
        for (const std::vector<std::int64_t>& offsets :
             std::vector<std::vector<std::int64_t>>{{1, 0}, {0, std::abs(stride) - 1}, {0, 1, 2, 3}, {0, 5, 2, 1, 40}})
          for (const bool at_end : {false, true})
            cases.push_back(Windows{dtype, lanes, stride, at_end ? 1 : 3, offsets}.at_edge(at_end));
  check_everywhere(cases);
}

TEST_CASE("a load that is not certain to be executed extends no range") {
  constexpr std::uint32_t kLanes = 16;
  // Its last lane would stand behind the buffer.
  const BufferRef in = make_buffer("in", DType::f32, 64), flag = make_buffer("flag", DType::i32, 1);
  const BufferRef out = make_buffer("out", DType::f32, 2 * kLanes);
  const Expr behind = ramp(Expr(34), 2, kLanes);
  const Expr certain = load(in, ramp(Expr(33), 2, kLanes)), beyond = load(in, behind);
  const Expr wanted = load(flag, Expr(0)) > Expr(0);
  const Expr nothing = Broadcast::make(constant(Type(DType::f32), 0.0), kLanes);
  const Expr first = ramp(Expr(0), 1, kLanes), second = ramp(Expr(std::int64_t{kLanes}), 1, kLanes);
  const std::vector<FunctionParameter> parameters{tensor(in, Direction::in), tensor(flag, Direction::in),
                                                  tensor(out, Direction::out)};
  const std::vector<Bytes> arguments{edge_bytes(DType::f32, 64), zeros(DType::i32, 1), zeros(DType::f32, 2 * kLanes)};
  const std::vector<Stmt> bodies{
      Block::make({store(out, first, certain),
                   store(out, second, IfThenElse::make(Broadcast::make(wanted, kLanes), beyond, nothing))}),
      Block::make({store(out, first, certain), store(out, second, load(in, behind, Broadcast::make(wanted, kLanes)))}),
      Block::make({store(out, first, certain), If::make(wanted, store(out, second, beyond))})};
  std::vector<Case> cases;
  for (const Stmt& body : bodies) cases.push_back({make_function("guarded", parameters, body), arguments});
  check_everywhere(cases);
}

TEST_CASE("a store between two loads of a range is seen by the second one") {
  constexpr std::uint32_t kLanes = 8;
  const BufferRef both = make_buffer("both", DType::f32, 32);
  const auto at = [&](std::int64_t base) { return load(both, ramp(Expr(base), 2, kLanes)); };
  const Case one{make_function("in_place", {tensor(both, Direction::inout)},
                               Block::make({store(both, ramp(Expr(0), 1, kLanes), at(1) + at(0)),
                                            store(both, ramp(Expr(16), 1, kLanes), at(1) - at(0))})),
                 {edge_bytes(DType::f32, 32)}};
  check_everywhere({one});
}

TEST_CASE("each vector of a range is loaded once for all the loads that share it") {
  struct Expectation {
    const char* target;
    std::uint32_t lanes;
    std::int64_t stride;
    std::vector<std::int64_t> offsets;
    const char* load;
    std::size_t loads;
  };
  constexpr const char *kAvx512 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4",
                       *kAvx2 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3",
                       *kArm64 = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
                       *kArm32 = "llvm -mtriple=armv7-linux-gnueabihf -mattr=+neon";
  constexpr const char *kX86Load = R"(\(%r(?!ip)[^)]*\),.*%[yz]mm)", *kArm64Load = R"(\tld[up]?r?\tq)",
                       *kArm32Load = R"(\tvld1)";
  for (const Expectation& e : std::vector<Expectation>{{kAvx512, 16, 2, {0, 1}, kX86Load, 2},
                                                       {kAvx512, 16, 3, {0, 1, 2}, kX86Load, 3},
                                                       {kAvx512, 16, 4, {3, 1, 2, 0}, kX86Load, 4},
                                                       {kAvx512, 16, -2, {0, 1}, kX86Load, 2},
                                                       {kAvx512, 16, 2, {0, 32, 1, 33, 64, 65}, kX86Load, 6},
                                                       {kAvx2, 8, 2, {0, 1}, kX86Load, 2},
                                                       {kArm64, 4, 2, {0, 1}, kArm64Load, 1},
                                                       {kArm32, 4, 2, {0, 1}, kArm32Load, 2}}) {
    const Windows windows{DType::f32, e.lanes, e.stride, 1, e.offsets};
    const Function function = windows.function(0, windows.elements());
    INFO(e.target << ", stride " << e.stride << ", " << e.offsets.size() << " loads");
    CHECK(count(function, e.target, e.load) == e.loads);
  }
}
