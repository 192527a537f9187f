#include "crosscompile/passes/gpu/extract_kernels.h"

#include "crosscompile/passes/memory/plan_workspace.h"
#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// first[i] = in[i], then out[i] = first[i] + S, as two kernels with a buffer of the workspace in between.
struct Two {
  Kernel kernel;
  Expr n = kernel.size("n"), scale = kernel.size("scale");
  BufferRef in = kernel.input("in", DType::i64, {n}), out = kernel.output("out", DType::i64, {n});

  Function planned() {
    const BufferRef first = array("first", DType::i64, {n}, Scope::global), s = shared("S", {3}, DType::i64);
    const Expr i = index("i"), b = index("b"), t = index("t");
    const Stmt copy = loop(i, n, put(first, {i}, at(in, {i})), kBlocks);
    const Expr x = b * 3 + t;
    const Stmt use = block({put(s, {t}, scale), If::make(x < n, put(out, {x}, at(first, {x}) + at(s, {t})))});
    const Stmt add = loop(b, ceil_div(n, 3), Allocate::make(s, loop(t, 3, use, kThreads)), kBlocks);
    kernel.function.name = "two";
    kernel.function.body = Allocate::make(first, block({copy, add}));
    return plan_workspace(kernel.function, kGpuWorkspaceAlignment);
  }
};

std::vector<std::string> names(const passes::GpuKernel& kernel) {
  std::vector<std::string> found;
  for (const passes::KernelParameter& parameter : kernel.parameters)
    found.push_back(parameter.buffer != nullptr ? parameter.buffer->name : parameter.variable.as<Var>()->name);
  return found;
}

}  // namespace

TEST_CASE("each kernel gets a symbol, a grid and a block of its own, and only the parameters that it uses") {
  Two two;
  const Function function = two.planned();
  const std::vector<passes::GpuKernel> kernels = extract_kernels(function);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].symbol == "ferry_fn_two");
  CHECK(kernels[1].symbol == "ferry_fn_two_1");
  CHECK(kernels[0].grid[0].extent.same_as(two.n));
  CHECK(is_constant(kernels[0].block[0].extent, 1));
  CHECK(is_constant(kernels[1].block[0].extent, 3));
  CHECK(names(kernels[0]) == std::vector<std::string>{"first", "in"});
  CHECK(names(kernels[1]) == std::vector<std::string>{"out", "first", "scale", "n"});
  check_same_on_odd_sizes(two.kernel.function, function);
}

TEST_CASE("a buffer of the workspace comes with its place, parameters of the function without") {
  Two two;
  const std::vector<passes::GpuKernel> kernels = extract_kernels(two.planned());
  for (const passes::KernelParameter& parameter : kernels.at(0).parameters)
    CHECK(parameter.offset.defined() == (parameter.buffer->name == "first"));
}

TEST_CASE("shared memory is counted with the padding that aligns the next array") {
  Two two;
  const std::vector<passes::GpuKernel> kernels = extract_kernels(two.planned());
  CHECK(kernels.at(0).shared_bytes == 0);
  CHECK(kernels.at(1).shared.size() == 1);
  CHECK(kernels.at(1).shared_bytes == 32);
  CHECK(shared_array(shared("S", {1}, DType::i8), 0).bytes == 16);
  CHECK(shared_array(shared("S", {4, 4}, DType::f32), 0).bytes == 64);
  CHECK(shared_array(shared("S", {17}, DType::i8), 0).bytes == 32);
  CHECK(shared_array(shared("S", {0}, DType::i8), 0).bytes == 0);
}

TEST_CASE("a statement outside of all loops over blocks and threads is a kernel of one thread") {
  Kernel kernel;
  const BufferRef out = kernel.output("out", DType::i64, {1});
  kernel.function.body = put(out, {0}, Expr(7));
  const std::vector<passes::GpuKernel> kernels = extract_kernels(kernel.function);
  REQUIRE(kernels.size() == 1);
  for (const passes::KernelAxis& axis : kernels[0].grid) CHECK(is_constant(axis.extent, 1));
  for (const passes::KernelAxis& axis : kernels[0].block) CHECK(is_constant(axis.extent, 1));
}

TEST_CASE("a function that computes nothing has one kernel over no blocks") {
  Kernel kernel;
  const std::vector<passes::GpuKernel> kernels = extract_kernels(kernel.function);
  REQUIRE(kernels.size() == 1);
  CHECK(is_constant(kernels[0].grid[0].extent, 0));
  CHECK(kernels[0].body.defined());
}

TEST_CASE("the value of a let around kernels becomes part of each of them") {
  Kernel kernel;
  const Expr n = kernel.size("n"), half = Var::make("half"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  kernel.function.body = LetStmt::make(half, n / 2, loop(i, half, put(out, {i}, half), kBlocks));
  CHECK(names(extract_kernels(kernel.function).at(0)) == std::vector<std::string>{"out", "n"});
}

TEST_CASE("what a GPU cannot do inside of a kernel is refused") {
  const auto refused = [](const std::function<Stmt(const BufferRef&, const Expr&)>& body) {
    Kernel kernel;
    const Expr i = index("i");
    const BufferRef out = kernel.output("out", DType::i64, {8});
    kernel.function.body = loop(i, 8, body(out, i), kBlocks);
    return refusal([&] { extract_kernels(kernel.function); });
  };
  CHECK(refused([](const BufferRef& out, const Expr& i) {
          return block({Assert::make(i < 4, 0), put(out, {i}, i)});
        }) == "expected a kernel that needs no checks while it runs, which a GPU cannot report");
  CHECK(refused([](const BufferRef& out, const Expr& i) {
          const BufferRef inside = array("inside", DType::i64, {8}, Scope::global);
          return Allocate::make(inside, block({put(inside, {i}, i), put(out, {i}, at(inside, {i}))}), Expr(0));
        }).find("'inside': expected memory of a block or a thread inside a kernel") == 0);
  CHECK(refused([](const BufferRef& out, const Expr& i) {
          const Expr j = index("j");
          return block({put(out, {i}, i), loop(j, 4, put(out, {j}, j), kThreads)});
        }).find("expected loops over blocks and threads around all of a kernel") != std::string::npos);
}
