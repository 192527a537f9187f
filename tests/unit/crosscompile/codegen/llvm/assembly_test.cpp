// Tests properties of good machine code that the instructions show, independent of its speed.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/paths.h"
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

// A tile of a matrix product with rows x vectors accumulators, in explicit vectors over a symbolic reduction size.
Function tile(int rows, int vectors, std::uint32_t lanes) {
  const std::int64_t width = std::int64_t{vectors} * lanes;
  const BufferRef a = make_buffer("A", DType::f32, 4096), b = make_buffer("B", DType::f32, 4096),
                  c = make_buffer("C", DType::f32, rows * width);
  const BufferRef sums = make_buffer("sums", DType::f32, rows * width, Scope::local);
  const Expr k = Var::make("k"), size = Var::make("size");
  const auto lane = [&](const Expr& first) { return Ramp::make(first, Expr(1), lanes); };
  std::vector<Stmt> clear, multiply, finish;
  for (int row = 0; row < rows; ++row) {
    for (int vector = 0; vector < vectors; ++vector) {
      const Expr at = lane(Expr(row * width + vector * std::int64_t{lanes}));
      clear.push_back(store(sums, at, Broadcast::make(constant(Type(DType::f32), 0.0), lanes)));
      const Expr left = Broadcast::make(load(a, k * Expr(rows) + Expr(row)), lanes);
      const Expr right = load(b, lane(k * Expr(width) + Expr(vector * std::int64_t{lanes})));
      multiply.push_back(store(sums, at, load(sums, at) + left * right));
      finish.push_back(store(c, at, load(sums, at)));
    }
  }
  Function function = make_function(
      "tile", {tensor(a, Direction::in), tensor(b, Direction::in), tensor(c, Direction::out)},
      Allocate::make(sums,
                     Block::make({Block::make(clear), loop(k, size, Block::make(multiply)), Block::make(finish)})));
  function.symbols = {size};
  function.flat = true;
  return function;
}

std::string assembly(const Function& function, const std::string& target) {
  return codegen::emit_assembly(std::vector<Function>{function}, resolve_target(target));
}

// Returns the instructions of the loop with the most multiplications, from its label to the branch back.
std::vector<std::string> hottest_loop(const std::string& text, const std::regex& multiply) {
  std::vector<std::string> lines, best;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  const auto count = [&](const std::vector<std::string>& part) {
    return std::count_if(part.begin(), part.end(),
                         [&](const std::string& l) { return std::regex_search(l, multiply); });
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch label;
    if (!std::regex_match(lines[i], label, std::regex(R"(^(\.L\w+):.*)"))) continue;
    for (std::size_t j = i + 1; j < lines.size() && lines[j].find(".L") != 0; ++j) {
      if (!std::regex_search(lines[j], std::regex("\\" + label[1].str() + "\\b"))) continue;
      const std::vector<std::string> part(lines.begin() + static_cast<std::ptrdiff_t>(i + 1),
                                          lines.begin() + static_cast<std::ptrdiff_t>(j + 1));
      if (count(part) > count(best)) best = part;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("a register tile stays in registers and multiplies by fma") {
  struct Expectation {
    const char* target;
    int rows, vectors;
    std::uint32_t lanes;
    const char* multiply;
    const char* stack;  // an access relative to the stack pointer
  };
  const Expectation expectations[] = {
      {"x86-64-v3", 6, 2, 8, R"(\tvfmadd\w+ps\t)", R"(\(%rsp|%rbp\))"},
      {"x86-64-v4", 12, 2, 16, R"(\tvfmadd\w+ps\t.*zmm)", R"(\(%rsp|%rbp\))"},
      {"raspberry-pi-4", 8, 2, 4, R"(\tfmla\t)", R"(\[sp)"},
      {"riscv64-v", 8, 2, 4, R"(\tvfm(acc|add)\.v[fv]\t)", R"(\(sp\))"},
      {"llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7", 4, 2, 4, R"(\tv(fma|mla)\.f32\tq)", R"(\[sp)"},
  };
  for (const Expectation& e : expectations) {
    CAPTURE(std::string(e.target));
    const std::vector<std::string> hot =
        hottest_loop(assembly(tile(e.rows, e.vectors, e.lanes), e.target), std::regex(e.multiply));
    std::string text;
    for (const std::string& line : hot) text += line + "\n";
    CAPTURE(text);
    const std::regex multiply(e.multiply), stack(e.stack);
    CHECK(std::count_if(hot.begin(), hot.end(), [&](const std::string& l) { return std::regex_search(l, multiply); }) ==
          e.rows * e.vectors);
    CHECK(std::none_of(hot.begin(), hot.end(), [&](const std::string& l) { return std::regex_search(l, stack); }));
  }
}

TEST_CASE("max with zero is one instruction") {
  const Bytes data = edge_bytes(DType::f32, 48);
  Case one = elementwise("relu", {DType::f32}, DType::f32, {data}, 48, 16, [](const std::vector<Expr>& in) {
    return Binary::make(BinaryOp::max, in[0], constant(in[0].type(), 0.0));
  });
  one.function.flat = true;
  const std::string text = assembly(one.function, "x86-64-v4");
  CAPTURE(text);
  CHECK(text.find("vmaxps") != std::string::npos);
  CHECK(text.find("vcmp") == std::string::npos);
}

TEST_CASE("four bits of a word become floats by a look-up of 16 floats, without a mask") {
  const auto text = [](std::int64_t mask, const char* target) {
    const Case one = elementwise(
        "number", {DType::u32}, DType::f32, {edge_bytes(DType::u32, 64)}, 64, 16, [mask](const std::vector<Expr>& in) {
          const Expr bits = (in[0] >> constant(in[0].type(), std::int64_t{8})) & constant(in[0].type(), mask);
          return Cast::make(DType::f32, bits);
        });
    return assembly(passes::run_pipeline(one.function, resolve_target(target)), target);
  };
  const std::regex looked_up(R"(\tvperm(ps|d)\t.*zmm)"), masked(R"(\tv(pandd|pternlogd|cvtu?dq2ps)\t)");
  CHECK(std::regex_search(text(15, "x86-64-v4"), looked_up));
  CHECK(!std::regex_search(text(15, "x86-64-v4"), masked));
  CHECK(std::regex_search(text(3, "x86-64-v4"), looked_up));
  CHECK(!std::regex_search(text(31, "x86-64-v4"), looked_up));
  CHECK(!std::regex_search(text(15, "x86-64-v3"), std::regex(R"(\tvperm(ps|d)\t)")));
}

TEST_CASE("a masked tail uses mask registers, not a branch a lane") {
  const BufferRef in = make_buffer("in", DType::f32, 16), out = make_buffer("out", DType::f32, 16);
  const Expr n = Var::make("n"), lanes = Ramp::make(Expr(0), Expr(1), 16);
  const Expr mask = lanes < Broadcast::make(n, 16);
  Function function = make_function("tail", {tensor(in, Direction::in), tensor(out, Direction::out)},
                                    store(out, lanes, load(in, lanes, mask), mask));
  function.symbols = {n};
  function.flat = true;
  const std::string text = assembly(function, "x86-64-v4");
  CAPTURE(text);
  CHECK(std::regex_search(text, std::regex(R"(%zmm\d+ \{%k\d\} \{z\})")));
  CHECK(text.find("\tj") == std::string::npos);
}

TEST_CASE("a local array with a masked tail is in registers") {
  const BufferRef in = make_buffer("in", DType::f32, 21), out = make_buffer("out", DType::f32, 1);
  const BufferRef sums = make_buffer("sums", DType::f32, 16, Scope::local);
  const auto lanes = [](std::int64_t first) { return Ramp::make(Expr(first), Expr(1), 16); };
  const Expr mask = lanes(16) < Broadcast::make(Expr(21), 16);
  Function function = make_function(
      "sum", {tensor(in, Direction::in), tensor(out, Direction::out)},
      Allocate::make(sums,
                     Block::make({store(sums, lanes(0), load(in, lanes(0))),
                                  store(sums, lanes(0), load(sums, lanes(0), mask) + load(in, lanes(16), mask), mask),
                                  store(out, Expr(0), VectorReduce::make(ReduceOp::sum, load(sums, lanes(0))))})));
  function.flat = true;
  const std::string text = assembly(function, "x86-64-v4");
  CAPTURE(text);
  CHECK(text.find("%rsp") == std::string::npos);
}

TEST_CASE("dividing by a power of two and indices known to be small need no division") {
  const BufferRef out = make_buffer("out", DType::i64, 96);
  const Expr i = Var::make("i");
  Function function =
      make_function("divide", {tensor(out, Direction::out)},
                    loop(i, Expr(96), store(out, i, i / Expr(8) + i % Expr(8) + (i / Expr(12)) % Expr(5))));
  function.flat = true;
  CHECK(assembly(function, "armv7").find("__aeabi") == std::string::npos);
  CHECK(assembly(function, "x86-64").find("\tidiv") == std::string::npos);
}

TEST_CASE("the same functions give the same bytes, and nothing of this machine is in them") {
  const std::vector<Function> functions{tile(4, 2, 4)};
  for (const char* name : {"x86-64-v3", "armv7", "aarch64", "riscv64-v"}) {
    CAPTURE(std::string(name));
    const Target target = resolve_target(name);
    const std::vector<std::uint8_t> bytes = codegen::emit_object(functions, target);
    CHECK(codegen::emit_object(functions, target) == bytes);
    const std::string text(bytes.begin(), bytes.end());
    CHECK(text.find("/tmp") == std::string::npos);
    CHECK(text.find(FERRY_SOURCE_DIR) == std::string::npos);
  }
  CHECK(codegen::emit_llvm(functions, resolve_target("aarch64")).find("fmul contract") != std::string::npos);
}

TEST_CASE("a function that devices do not offer is refused by name") {
  const BufferRef out = make_buffer("out", DType::f32, 1);
  Function function =
      make_function("calls", {tensor(out, Direction::out)},
                    store(out, Expr(0), Call::make(Type(DType::f32), Callee::external("my_function"), {})));
  function.flat = true;
  const std::vector<Function> functions{function};
  CHECK_THROWS_WITH_AS(codegen::emit_object(functions, resolve_target("riscv64")),
                       "the code needs 'my_function', which devices do not offer on riscv64", InternalError);
}

TEST_CASE("two functions of one name are refused") {
  const std::vector<Function> functions{tile(1, 1, 4), tile(1, 1, 4)};
  CHECK_THROWS_WITH_AS(codegen::emit_object(functions, resolve_target("x86-64")), "two functions are called 'tile'",
                       CompileError);
}

TEST_CASE("a CPU refuses the loops and the memory of GPUs, and says what it has instead") {
  const BufferRef out = make_buffer("out", DType::f32, 16), shared = make_buffer("S", DType::f32, 16, Scope::shared);
  const Expr i = Var::make("i");
  const Target target = resolve_target("x86-64");
  const auto emit = [&](Stmt body) {
    Function function = make_function("f", {tensor(out, Direction::out)}, std::move(body));
    function.flat = true;
    (void)codegen::emit_object(std::vector<Function>{function}, target);
  };
  CHECK_THROWS_WITH_AS(
      emit(loop(i, Expr(16), store(out, i, Expr(1.0F)), ForKind::thread_x)),
      "expected loops that a CPU has, got one over threadIdx.x: blocks and threads are a GPU's (targets "
      "cuda and opencl); use 'parallel' and 'vectorize'",
      CompileError);
  CHECK_THROWS_WITH_AS(
      emit(Allocate::make(shared, store(shared, Expr(0), Expr(1.0F)))),
      "'S': expected a scope that a CPU has (global, local or register), got 'shared', which is a GPU's "
      "(targets cuda and opencl)",
      CompileError);
}

TEST_CASE("a prefetch is an instruction where the processor has one, and faults nowhere") {
  const BufferRef in = make_buffer("in", DType::f32, 64), out = make_buffer("out", DType::f32, 64);
  const Expr i = Var::make("i");
  Function function = make_function(
      "ahead", {tensor(in, Direction::in), tensor(out, Direction::out)},
      loop(i, Expr(64), Block::make({make_prefetch(load(in, i + Expr(1 << 20))), store(out, i, load(in, i))})));
  function.flat = true;
  const auto count = [&](const char* target, const std::string& name) {
    const std::string text = assembly(function, target);
    const std::regex word("\\b" + name + "\\b");
    return std::distance(std::sregex_iterator(text.begin(), text.end(), word), std::sregex_iterator());
  };
  CHECK(count("x86-64-v3", "prefetcht0") >= 1);
  CHECK(count("raspberry-pi-4", "prfm") >= 1);
  CHECK(count("raspberry-pi-4-32bit", "pld") >= 1);
  Case one;
  one.function = function;
  one.arguments = {bytes_of(std::vector<float>(64, 3.0f)), zeros(DType::f32, 64)};
  check_everywhere({one});
}

TEST_CASE("a tile that is transposed on its way to memory is stored in whole vectors") {
  const BufferRef in = make_buffer("in", DType::f32, 256), out = make_buffer("out", DType::f32, 256);
  std::vector<Stmt> stores;
  for (std::int64_t row = 0; row < 16; ++row)
    stores.push_back(
        store(out, Ramp::make(Expr(row), Expr(16), 16), load(in, Ramp::make(Expr(row * 16), Expr(1), 16))));
  Function function = make_function("transpose", {tensor(in, Direction::in), tensor(out, Direction::out)},
                                    Block::make(std::move(stores)));
  function.flat = true;
  const std::string text = assembly(function, "llvm -mcpu=x86-64-v4");
  const std::regex whole(R"(vmov[au]p[sd]\s+%zmm\d+, .*\(%)"), single(R"((vmovss|vextractps)\s+\$?.*%xmm\d+, .*\(%)");
  const auto count = [&](const std::regex& pattern) {
    return std::distance(std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator());
  };
  CHECK_MESSAGE(count(whole) == 16, text);
  CHECK_MESSAGE(count(single) == 0, text);
}
