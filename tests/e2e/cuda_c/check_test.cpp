// ferry check of kernels in CUDA C: what it finds, with tensor, element and line.
#include "tests/e2e/cuda_c/cuda_fixture.h"

using namespace ferry::test;

namespace {

// Expects that the kernel is found to be wrong, with these words, and fine with `to` in place of `from`.
void expect_mistake(const std::string& text, const std::string& from, const std::string& to,
                    const std::vector<std::string>& options, const std::string& words) {
  if (!has_nvrtc()) return;
  INFO(text);
  const Outcome wrong = check_text(text, options);
  CHECK_MESSAGE(wrong.code == 1, wrong.out, wrong.err);
  CHECK_MESSAGE(contains(wrong.err, words), wrong.err);
  std::string right = text;
  REQUIRE(right.find(from) != std::string::npos);
  right.replace(right.find(from), from.size(), to);
  const Outcome fine = check_text(right, options);
  CHECK_MESSAGE(fine.code == 0, fine.out, fine.err);
}

constexpr const char* kShift =
    "// ferry: shift(in f32[n] x, out f32[n] y) grid=1, block=n\n"
    "__global__ void shift(const float* x, float* y, long long n) {\n"
    "  __shared__ float part[128];\n"
    "  const int i = threadIdx.x;\n"
    "  part[i] = x[i];\n"
    "  __syncthreads();\n"
    "  y[i] = part[(i + 1) % n];\n"
    "}\n";

std::string without(const std::string& text, const std::string& part) {
  std::string changed = text;
  return changed.replace(changed.find(part), part.size(), std::string(part.size(), ' '));
}

}  // namespace

TEST_CASE("the examples are fine and compute what their definitions say, at odd sizes") {
  if (!has_nvrtc()) return;
  struct Case {
    const char *name, *sizes, *function;
  };
  const Case cases[] = {{"01_vector_add", "n=1000", ""},
                        {"01_vector_add", "n=0", ""},
                        {"02_product", "m=17,k=33,n=19", ""},
                        {"03_row_sum", "m=5,n=300", "row_sum"},
                        {"03_row_sum", "m=9,n=70", "row_sum_by_warps"},
                        {"04_stencil", "h=11,w=37", ""},
                        {"04_stencil", "h=2,w=40", ""}};
  for (const Case& one : cases) {
    const std::string name = one.name;
    CAPTURE(name);
    CAPTURE(one.sizes);
    std::vector<std::string> words = {"check",   example(name + ".cu"), "--size",
                                      one.sizes, "--check-against",     example(name + ".tc")};
    if (*one.function != 0) words.insert(words.end(), {"--fn", one.function});
    const Outcome outcome = run_ferry(words);
    CHECK_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
    CHECK(contains(outcome.out, "fine"));
    CHECK(contains(outcome.out, "no race"));
  }
}

TEST_CASE("an element outside of a tensor is named with its line") {
  expect_mistake(
      "// ferry: f(in f32[n] x, out f32[n] y) grid=ceildiv(n, 32), block=32\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
      "  if (i <= n) y[i] =\n"
      "    x[i];\n"
      "}\n",
      "<=", "<", {"--size", "n=40"}, "reads 4 bytes at x[40], which has 40 elements");
}

TEST_CASE("a barrier that is missing is a race, with both lines") {
  const std::string racing = without(kShift, "__syncthreads();");
  expect_mistake(racing, std::string(16, ' '), "__syncthreads();", {"--size", "n=64"}, "k.cu:");
  if (!has_nvrtc()) return;
  const Outcome outcome = check_text(racing, {"--size", "n=64"});
  CHECK_MESSAGE((contains(outcome.err, "a race: thread") || contains(outcome.err, "never computed")), outcome.err);
}

TEST_CASE("shared memory that nobody wrote is not computed with") {
  std::string partly = kShift;
  partly.replace(partly.find("  part[i]"), 2, "  if (i != 5) ");
  expect_mistake(partly, "  if (i != 5) ", "  ", {"--size", "n=64"},
                 "k.cu:7 (st.global.f32): stores what was never computed, in y[4]");
}

TEST_CASE("a sum in place of a race is found") {
  expect_mistake(
      "// ferry: total(in i32[n] x, inout i32[1] y) grid=ceildiv(n, 32), block=32\n"
      "__global__ void total(const int* x, int* y, long long n) {\n"
      "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
      "  if (i < n) y[0] += x[i]; // sums up\n"
      "}\n",
      "y[0] += x[i]", "atomicAdd(y, x[i])", {"--size", "n=70"}, "k.cu:4");
}

TEST_CASE("a result that is never written, or added to without a beginning, is a mistake") {
  expect_mistake(
      "// ferry: f(in f32[n] x, out f32[n] y) grid=ceildiv(n, 32), block=32\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
      "  if (i < n - 1) y[i] = x[i];\n"
      "}\n",
      "n - 1", "n", {"--size", "n=40"}, "never writes y[39]");
  expect_mistake(
      "// ferry: f(in f32[n] x, out f32[1] y) grid=1, block=n\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  atomicAdd(y, x[threadIdx.x]);\n"
      "}\n",
      "out", "inout", {"--size", "n=32"}, "changes what was never written, y[0]");
}

TEST_CASE("dynamic shared memory is as large as the launch says") {
  expect_mistake(
      "// ferry: f(in f32[n] x, out f32[n] y) grid=1, block=n, shared=4*(n-1)\n"
      "extern __shared__ float part[];\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  part[threadIdx.x] = x[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  y[threadIdx.x] = part[n - 1 - threadIdx.x];\n"
      "}\n",
      "4*(n-1)", "4*n", {"--size", "n=48"}, "byte 188 of part, which has 188 bytes");
}

TEST_CASE("lanes of a warp wait for each other by __syncwarp, and a barrier in a branch is divergent") {
  const std::string warp =
      "// ferry: f(in f32[n] x, out f32[n] y) grid=1, block=32\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  __shared__ float part[32];\n"
      "  part[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;\n"
      "  for (int d = 16; d > 0; d /= 2) {\n"
      "    __syncwarp();\n"
      "    const float other = part[threadIdx.x ^ d];\n"
      "    __syncwarp();\n"
      "    part[threadIdx.x] += other;\n"
      "  }\n"
      "  if (threadIdx.x < n) y[threadIdx.x] = part[threadIdx.x];\n"
      "}\n";
  std::string racing = warp;
  racing.replace(racing.rfind("__syncwarp();"), 13, "             ");
  expect_mistake(racing, "             \n", "__syncwarp();\n", {"--size", "n=30"}, "a race: thread");
  expect_mistake(
      "// ferry: f(in f32[n] x, out f32[n] y) grid=1, block=64\n"
      "__global__ void f(const float* x, float* y, long long n) {\n"
      "  if (threadIdx.x < n) {\n"
      "    y[threadIdx.x] = x[threadIdx.x];\n"
      "    __syncthreads();\n"
      "  }\n"
      "}\n",
      "    __syncthreads();\n", "", {"--size", "n=40"}, "barrier");
}

TEST_CASE("what CUDA C offers computes what the same in C does") {
  if (!has_nvrtc()) return;
  const Folder folder;
  const std::string signature = "// ferry: f(in i32[n] x, in f32[n] y, out i32[n] a, out f32[n] b, i32 n)";
  const std::string kernel =
      signature + " grid=n/32, block=32, shared=128\n" +
      "#include <stdint.h>\n"
      "__constant__ int table[5] = {3, 1, 4, 1, 5};\n"
      "extern __shared__ int part[];\n"
      "__device__ __noinline__ int collatz(int v) {\n"
      "  int steps = 0;\n"
      "  while (v > 1 && steps < 100) { v = v & 1 ? 3 * v + 1 : v / 2; ++steps; }\n"
      "  return steps;\n"
      "}\n"
      "__global__ void f(const int* __restrict__ x, const float* y, int* a, float* b, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x;\n"
      "  const int v = x[i];\n"
      "  part[lane] = v;\n"
      "  __syncwarp();\n"
      "  const unsigned odd = __ballot_sync(0xffffffff, v & 1);\n"
      "  int sum = v;\n"
      "  for (int d = 1; d < 32; d *= 2) { const int o = __shfl_up_sync(0xffffffff, sum, d); if (lane >= d) sum += o; "
      "}\n"
      "  int own[8];\n"
      "  for (int k = 0; k < 8; ++k) own[k] = part[(lane + k) % 32] * k;\n"
      "  const int4 four = reinterpret_cast<const int4*>(x)[i / 4];\n"
      "  int r = __popc(odd) + sum + own[v & 7] + four.x + four.y * 2 + four.z * 3 + four.w * 4;\n"
      "  switch (v & 7) { case 0: r += 5; break; case 1: r *= 3; break; case 2: r -= 7; break; case 3: r ^= 99; "
      "break;\n"
      "    case 5: r <<= 2; break; case 6: r |= 12; }\n"
      "  r += __clz(v) + __brev(v) % 1000 + __byte_perm(v, 77, 0x0123) % 999 + __mulhi(v, 123456789);\n"
      "  r += (int)((int64_t)v * v % 1013) + (int8_t)v + (uint16_t)v + collatz(v & 63) + table[v % 5 < 0 ? 0 : v % "
      "5];\n"
      "  r += __any_sync(0xffffffff, v == 7) + __all_sync(0xffffffff, v > 0) + max(v, 3) - min(v, -3) + abs(v % "
      "1000);\n"
      "  r += __syncthreads_count(v > 0) + __float2int_rn(y[i] * 3) + (int)y[i] + (isnan(y[i]) ? 1 : 0) + __ffs(v);\n"
      "  a[i] = r;\n"
      "  const float z = fabsf(y[i]);\n"
      "  b[i] = fmaf(z, 2.0f, sqrtf(z)) + expf(-z) + sinf(z) + logf(z + 1) + z / (z + 3) + floorf(z) + fminf(z, "
      "2.5f);\n"
      "}\n";
  const std::string reference =
      signature +
      "\n#include <math.h>\n#include <stdint.h>\n"
      "static const int table[5] = {3, 1, 4, 1, 5};\n"
      "static int collatz(int v) {\n"
      "  int steps = 0;\n"
      "  while (v > 1 && steps < 100) { v = v & 1 ? 3 * v + 1 : v / 2; ++steps; }\n"
      "  return steps;\n"
      "}\n"
      "static int popc(unsigned v) { return __builtin_popcount(v); }\n"
      "static uint32_t brev(uint32_t v) { return __builtin_bitreverse32(v); }\n"
      "void f(const int* x, const float* y, int* a, float* b, int n) {\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    const int *w = x + i / 32 * 32, lane = i % 32, v = x[i];\n"
      "    unsigned odd = 0, count = 0, any = 0, all = 1;\n"
      "    for (int k = 0; k < 32; ++k) { odd |= (unsigned)(w[k] & 1) << k; count += w[k] > 0; any |= w[k] == 7; all "
      "&= w[k] > 0; }\n"
      "    uint32_t sum = 0;\n"
      "    for (int k = 0; k <= lane; ++k) sum += (uint32_t)w[k];\n"
      "    const uint32_t* q = (const uint32_t*)x + i / 4 * 4;\n"
      "    uint32_t r = popc(odd) + sum + (uint32_t)w[(lane + (v & 7)) % 32] * (uint32_t)(v & 7) + q[0] + q[1] * 2 + "
      "q[2] * 3 + q[3] * 4;\n"
      "    switch (v & 7) { case 0: r += 5; break; case 1: r *= 3; break; case 2: r -= 7; break; case 3: r ^= 99; "
      "break;\n"
      "      case 5: r <<= 2; break; case 6: r |= 12; }\n"
      "    const uint32_t u = (uint32_t)v;\n"
      "    const uint32_t permuted = (u >> 24 & 255) | (u >> 16 & 255) << 8 | (u >> 8 & 255) << 16 | (u & 255) << 24;\n"
      "    r += (v == 0 ? 32 : __builtin_clz(u)) + brev(u) % 1000 + permuted % 999 + (uint32_t)(((int64_t)v * "
      "123456789) >> 32);\n"
      "    r += (uint32_t)((int64_t)v * v % 1013) + (uint32_t)(int8_t)v + (uint16_t)v + collatz(v & 63) + table[v % 5 "
      "< 0 ? 0 : v % 5];\n"
      "    r += any + all + (uint32_t)(v > 3 ? v : 3) - (uint32_t)(v < -3 ? v : -3) + (uint32_t)(v % 1000 < 0 ? -(v % "
      "1000) : v % 1000);\n"
      "    r += count + (uint32_t)(int)nearbyintf(y[i] * 3) + (uint32_t)(int)y[i] + (isnan(y[i]) ? 1 : 0) + (v == 0 ? "
      "0 : __builtin_ctz(u) + 1);\n"
      "    a[i] = (int)r;\n"
      "    const float z = fabsf(y[i]);\n"
      "    b[i] = fmaf(z, 2.0f, sqrtf(z)) + expf(-z) + sinf(z) + logf(z + 1) + z / (z + 3) + floorf(z) + fminf(z, "
      "2.5f);\n"
      "  }\n"
      "}\n";
  const Outcome outcome = run_ferry({"check", folder.file("f.cu", kernel), "--size", "n=96", "--check-against",
                                     folder.file("f.c", reference), "--rtol", "1e-5"});
  CHECK_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
}

TEST_CASE("variables of the program begin anew in each call") {
  if (!has_nvrtc()) return;
  const Folder folder;
  const Outcome outcome = check_text(
      "// ferry: f(in i32[n] x, out i32[n] y) grid=1, block=n\n"
      "__device__ int calls = 4;\n"
      "__global__ void f(const int* x, int* y, long long n) {\n"
      "  if (threadIdx.x == 0) calls += 1;\n"
      "  __syncthreads();\n"
      "  y[threadIdx.x] = x[threadIdx.x] + calls;\n"
      "}\n",
      {"--size", "n=8", "--thorough", "--check-against",
       folder.file("f.tc", "def f(int32(n) x) -> (y) { y(i) = x(i) + 5 }")});
  CHECK_MESSAGE(outcome.code == 0, outcome.out, outcome.err);
}

TEST_CASE("instructions that the interpreter does not know are refused by name, with the line") {
  if (!has_nvrtc()) return;
  const Outcome outcome = check_text(
      "// ferry: f(out i32[4] y) grid=1, block=4\n"
      "__global__ void f(int* y) {\n"
      "  __threadfence();\n"
      "  y[threadIdx.x] = 1;\n"
      "}\n",
      {});
  CHECK(outcome.code == 2);
  CHECK_MESSAGE(contains(outcome.err, "cannot be checked: k.cu:3"), outcome.err);
  CHECK_MESSAGE(contains(outcome.err, "membar"), outcome.err);
}

TEST_CASE("functions of the driver are refused by name, and an assertion that fails is a mistake") {
  if (!has_nvrtc()) return;
  const std::string head = "// ferry: f(out i32[4] y) grid=1, block=4\n__global__ void f(int* y) {\n";
  const Outcome printing = check_text(head + "  printf(\"%d\", 1);\n  y[threadIdx.x] = 1;\n}\n", {});
  CHECK(printing.code == 2);
  CHECK_MESSAGE(contains(printing.err, "k.cu:3: the interpreter does not know the function 'vprintf'"), printing.err);
  const Outcome asserting = check_text(head + "  assert(threadIdx.x < 3);\n  y[threadIdx.x] = 1;\n}\n", {});
  CHECK(asserting.code == 1);
  CHECK_MESSAGE(contains(asserting.err, "f: thread 3 of block (0,0,0), k.cu:3"), asserting.err);
  CHECK_MESSAGE(contains(asserting.err, "an assertion fails"), asserting.err);
}

TEST_CASE("a kernel that does not end, or whose launch is refused, ends") {
  if (!has_nvrtc()) return;
  const std::string endless =
      "// ferry: f(inout i32[4] y) grid=1, block=4\n"
      "__global__ void f(int* y) { while (y[0] != 77777) ; }\n";
  const Outcome late = check_text(endless, {"--call-deadline", "1"});
  CHECK(late.code == 1);
  CHECK_MESSAGE(contains(late.err, "deadline"), late.err);
  const Outcome large = check_text(kShift, {"--size", "n=2000"});
  CHECK(large.code == 2);
  CHECK_MESSAGE(contains(large.err, "1 to 1,024 threads along x"), large.err);
}
