// Tests of calls that are refused before the kernel runs, and of views of larger tensors, with a server on this
// machine.
#include <doctest/doctest.h>

#include <functional>
#include <numeric>

#include "ferry/compile.h"
#include "ferry/lang/program.h"
#include "module/manifest.h"
#include "tests/paths.h"
#include "tests/support/listening_server.h"

using namespace ferry;
using namespace ferry::test;

namespace {

struct Here {
  ListeningServer server{std::string(FERRY_SOURCE_DIR) + "/build/device/x86_64/static/rpc_server", {}, {}};
  Device device = connect(server.address());

  Function function(const char* source) const {
    const Module module = device.load(compile(source, target_of(device)));
    return module[module.manifest().functions.at(0).name];
  }
};

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

TEST_CASE("a kernel reads and updates blocks of larger tensors in place") {
  const Here here;
  const Function add = here.function(
      "def add(float(M,N) A strides(lda,1), float(M,N) C strides(ldc,1)) -> (C) { C(i,j) = A(i,j) + C(i,j) }");
  const std::vector<float> a = counting(6 * 32), c(5 * 48, 0.5f);
  const DeviceTensor whole_a = here.device.put(view(a, {6, 32})), whole_c = here.device.put(view(c, {5, 48}));
  const DeviceTensor result = add(whole_a.view({3, 7}, {32, 1}, 48), whole_c.view({3, 7}, {48, 1}, 64), 32, 48);
  CHECK(result.strides() == Shape{48, 1});
  const std::vector<float> block = result.to_vector<float>(), all = whole_c.to_vector<float>();
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 48; ++j) {
      // The block starts at row 1, column 16 of C, and at row 1, column 16 of A.
      const bool inside = i >= 1 && i < 4 && j >= 16 && j < 23;
      const float want = inside ? a[i * 32 + j] + 0.5f : 0.5f;
      CHECK(all[i * 48 + j] == want);
      if (inside) CHECK(block[(i - 1) * 7 + (j - 16)] == want);
    }
  }
}

TEST_CASE("strides that do not fit are refused before the call") {
  const Here here;
  const Function f = here.function(
      "def f(float(M,N) A strides(lda,1), float(M,N) C strides(ldc,1)) -> (C) { C(i,j) = A(i,j) + C(i,j) }");
  const DeviceTensor a = here.device.empty(DType::f32, {8, 16}), c = here.device.empty(DType::f32, {8, 16});
  CHECK(refusal([&] { f(a, c, 17, 16); }) == "f: argument 1 'A': expected strides [17,1], got a dense tensor");
  CHECK(refusal([&] { f(a.view({4, 8}, {16, 1}), c.view({4, 8}, {16, 1}), 16, 8); }) ==
        "f: argument 2 'C': expected strides [8,1], got strides [16,1]");
  CHECK(refusal([&] { a.view({8, 16}, {17, 1}); }) ==
        "expected a view of 512 bytes that starts at a multiple of 64 bytes, got 540 bytes from 0 on");
  CHECK(refusal([&] { a.view({4}, {}, 1); }) ==
        "expected a view of 512 bytes that starts at a multiple of 64 bytes, got 16 bytes from 4 on");
  CHECK(refusal([&] { f(a, c.view({8, 16}, {7, 1}), 16, 7); }) ==
        "f: the strides of 'C' leave each of its elements a place of its own, got M = 8, N = 16, ldc = 7");
  CHECK(refusal([&] { a.view({4, 8}, {16, 1}).write(nullptr); }) ==
        "expected a dense tensor to write to, got one with strides: write the tensor that it is a view of");
  const Function dense = here.function("def g(float(M,N) A) -> (B) { B(i,j) = A(i,j) }");
  CHECK(refusal([&] { dense(a.view({4, 8}, {16, 1})); }) ==
        "g: argument 1 'A': expected a dense tensor, got strides [16,1]");
}

TEST_CASE("a broken requirement is told in the user's own sentence") {
  const Here here;
  const Function reshape = here.function(
      "def reshape(float(N,M) A, int p, int q) -> (B) {\n"
      "  require(p*q == N*M, \"p times q is the number of elements\")\n"
      "  B(i,j) = A((i*q + j) / M, (i*q + j) % M) where i in 0:p, j in 0:q }");
  const DeviceTensor a = here.device.put(view(counting(24), {4, 6}));
  CHECK(reshape(a, 3, 8).to_vector<float>() == counting(24));
  const std::string told = refusal([&] { reshape(a, 3, 7); });
  CHECK(told ==
        "reshape: p times q is the number of elements (requires p * q == N * M, got N = 4, M = 6, p = 3, q = 7)");
}

TEST_CASE("a requirement built in C++ is checked the same way") {
  const Here here;
  const lang::Expr n = lang::var("n"), m = lang::var("m"), p = lang::var("p"), q = lang::var("q");
  const lang::Tensor a = lang::placeholder({n, m}, DType::f32, "A");
  const lang::Tensor b =
      lang::compute({p, q}, [&](auto& i) { return a((i[0] * q + i[1]) / m, (i[0] * q + i[1]) % m); }, "B");
  const lang::Program program =
      lang::make_program("reshape", {lang::in(a), lang::scalar(p), lang::scalar(q), lang::out(b)},
                         {lang::require(p * q == n * m, "the shapes hold as many elements")});
  const Module module = here.device.load(compile(program, target_of(here.device)));
  const DeviceTensor input = here.device.put(view(counting(24), {4, 6}));
  CHECK(module["reshape"](input, 3, 8).to_vector<float>() == counting(24));
  CHECK(refusal([&] { module["reshape"](input, 5, 5); }) ==
        "reshape: the shapes hold as many elements (requires p * q == n * m, got n = 4, m = 6, p = 5, q = 5)");
}
