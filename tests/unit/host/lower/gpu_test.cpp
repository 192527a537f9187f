// Tests that loops over blocks and threads preserve the result, both as loops and as kernels with barriers, and that
// the interpreter detects a missing barrier.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/gpu_schedules.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/support/waiting_for_fewer.h"
#include "tests/support/without_barrier.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::test;

namespace {

const char* const kAdd = "def add(int(N) A, int(N) B) -> (C) { C(i) = A(i) + B(i) }";
const char* const kProduct = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kTwo = "def two(int(N,M) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * 2 }";
const char* const kBlur =
    "def blur(int(H,W) I) -> (B) { X(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)  B(y,x) = X(y,x) + X(y+1,x) + X(y+2,x) }";

ir::Function kernel(const std::string& source, const std::string& schedule, const std::string& gpu = {}) {
  Target target;
  target.set_arch("x86_64");
  target.capabilities = capabilities_of(target);
  return compiled(source, schedule, gpu.empty() ? target : resolve_target(gpu));
}

std::string pass_refusal(const std::string& source, const std::string& schedule, const std::string& gpu = {}) {
  try {
    (void)kernel(source, schedule, gpu);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

std::string default_for_gpu(const std::string& source) {
  const std::string text =
      autoschedule::default_schedule(lang::parse(source, "test.tc").at(0), resolve_target("cuda -arch=sm_80"))
          .to_text();
  CHECK(pass_refusal(source, text, "cuda -arch=sm_80") == "none");
  return text;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("loops bound to blocks and threads cover every element once, whatever the size") {
  for (const std::int64_t size : {0, 1, 63, 64, 65, 1000})
    for (const char* schedule :
         {"split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x", "bind i blockIdx.y",
          "split i 64 -> b t\nsplit t 4 -> u e\nbind b blockIdx.x\nbind u threadIdx.z",
          "split i 64 -> b t\nsplit t 4 -> u e\nbind b blockIdx.x\nbind u threadIdx.x\nvectorize e",
          "split i 32 -> b t\nsplit b 4 -> c v\nbind c blockIdx.x\nbind v vthread\nbind t threadIdx.x"})
      check_schedule(kAdd, schedule, {{"N", size}});
}

TEST_CASE("a product in tiles of shared and local memory keeps its result at any size") {
  for (const Sizes& sizes : {Sizes{{"M", 1}, {"N", 1}, {"K", 1}},
                             {{"M", 8}, {"N", 16}, {"K", 4}},
                             {{"M", 13}, {"N", 9}, {"K", 11}},
                             {{"M", 3}, {"N", 17}, {"K", 0}}}) {
    for (const std::string& schedule : {kTiled, kVirtual, kDoubleBuffered, kPipelined})
      check_schedule(kProduct, schedule, sizes);
  }
}

TEST_CASE("a fetch into shared memory waits twice an iteration, whatever the number of tensors and virtual threads") {
  for (const std::string& schedule : {kTiled, kVirtual}) {
    const ir::Function function = kernel(kProduct, schedule);
    INFO(ir::to_text(function));
    CHECK(count_barriers(function) == 2);
  }
}

TEST_CASE("fetched ahead, it waits once an iteration") {
  for (const std::string& schedule : {kDoubleBuffered, kPipelined}) {
    const ir::Function function = kernel(kProduct, schedule);
    INFO(ir::to_text(function));
    CHECK(count_barriers(function) == 1);
  }
}

TEST_CASE("whole tiles are computed without a guard, and loops with barriers inside stay one") {
  for (const char* target : {"cuda", "opencl"}) {
    const std::string text = ir::to_text(kernel(kProduct, kTiled, target));
    INFO(text);
    // Both versions, guarded and unguarded, contain both fetches, the product and the store of its result.
    const std::string product = "CL_acc[m * 2 + n] += AA[";
    const std::size_t first = text.find(product), second = text.find(product, first + 1);
    REQUIRE(second != std::string::npos);
    CHECK(text.find(product, second + 1) == std::string::npos);
    CHECK(text.rfind("for (", first) > text.rfind("if (", first));
    CHECK(text.rfind("for (", second) < text.rfind("if (", second));
    CHECK(text.find("for (ko") == text.rfind("for (ko"));
  }
}

TEST_CASE("virtual threads share what they fetch") {
  const std::string text = ir::to_text(kernel(kProduct, kVirtual));
  INFO(text);
  std::size_t stores = 0;
  for (std::size_t at = text.find("AA["); at != std::string::npos; at = text.find("AA[", at + 1))
    stores += text.compare(text.find(']', at), 4, "] = ") == 0 ? 1 : 0;
  CHECK(stores == 1);
}

TEST_CASE("without any one of its barriers the interpreter finds a race, by buffer and threads") {
  for (const std::string& schedule : {kTiled, kVirtual, kDoubleBuffered, kPipelined}) {
    const Sizes sizes = {{"M", 13}, {"N", 9}, {"K", 11}};
    const ir::Function whole = kernel(kProduct, schedule);
    REQUIRE(complaint(whole, sizes) == "none");
    for (int barrier = 0; barrier < count_barriers(whole); ++barrier) {
      const std::string what = complaint(without_barrier(whole, barrier), sizes);
      CAPTURE(what);
      CHECK((contains(what, "a race of threads on 'AA'[") || contains(what, "a race of threads on 'BB'[") ||
             contains(what, "never written: 'AA'") || contains(what, "never written: 'BB'")));
    }
  }
}

TEST_CASE("a producer computed in a block is kept in shared memory when threads compute it together") {
  const std::string schedule =
      "C: split i 4 -> io ii\nC: bind io blockIdx.x\nC: bind ii threadIdx.y\n"
      "C: split j 8 -> jo ji\nC: bind ji threadIdx.x\nC: reorder io ii ji jo\n"
      "B: compute_at C io\nB: split j 8 -> bo bi\nB: bind i threadIdx.y\nB: bind bi threadIdx.x\n";
  // A block is known to need 4 rows; the length of a row has to be constant as well.
  check_schedule("def two(int(N,24) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * 2 }", schedule, {{"N", 10}});
  CHECK(contains(pass_refusal(kTwo, schedule), "'B': expected a constant size in shared memory"));
}

TEST_CASE("threads that keep to their own elements do not wait") {
  const std::string schedule =
      "C: split j 8 -> jo ji\nC: bind i blockIdx.x\nC: bind ji threadIdx.x\n"
      "C: reorder i ji jo\nB: compute_at C jo\nB: set_scope shared\nB: bind j threadIdx.x\n";
  CHECK(count_barriers(kernel(kTwo, schedule)) == 0);
  check_schedule(kTwo, schedule, {{"N", 3}, {"M", 21}});
}

TEST_CASE("a window of another stage is fetched with its halo") {
  const std::string schedule =
      "B: tile y x 4 8 -> yo xo yi xi\nB: bind yo blockIdx.y\nB: bind xo blockIdx.x\n"
      "B: bind yi threadIdx.y\nB: bind xi threadIdx.x\n"
      "X: compute_at B xi\nX: set_scope shared\n"
      "X: split y nparts 4 -> ty yy\nX: split x 8 -> xx tx\n"
      "X: bind ty threadIdx.y\nX: bind tx threadIdx.x\n";
  for (const Sizes& sizes : {Sizes{{"H", 3}, {"W", 3}}, {{"H", 10}, {"W", 18}}, {{"H", 13}, {"W", 21}}})
    check_schedule(kBlur, schedule, sizes);
}

TEST_CASE("an axis that a stage in shared memory leaves out is left to its first thread") {
  std::string schedule = kTiled;
  schedule.replace(schedule.find("AA: bind ay threadIdx.y\n"), 24, "");
  check_schedule(kProduct, schedule, {{"M", 13}, {"N", 9}, {"K", 11}});
}

TEST_CASE("loops that do not fit together are refused") {
  CHECK(contains(pass_refusal(kProduct,
                              "C: split n 8 -> no ni\nC: bind m blockIdx.x\nC: bind ni threadIdx.x\n"
                              "C: reorder m ni no\nA: cache_read shared -> AA\nAA: compute_at C ni\n"
                              "AA: split i1 16 -> ao ai\nAA: bind ai threadIdx.x\n"),
                 "threadIdx.x: expected one extent in a kernel, got 8 (the loop 'ni') and 16 (the loop 'ai')"));
  CHECK(contains(refusal(kProduct, "bind n threadIdx.x"), "whose extent is known only at run time; split it and bind"));
  CHECK(contains(refusal(kProduct, "bind k blockIdx.x"), "'k', over which 'C' reduces"));
  CHECK(contains(refusal(kProduct, "bind m blockIdx.x\nbind n blockIdx.x"), "to which 'm' is bound"));
  CHECK(contains(refusal(kProduct, "bind m threadidx.x"), "expected one of 'blockIdx.x', "));
  CHECK(contains(refusal(kProduct, "bind m blockIdx.x\nparallel m"), "which is bound to blockIdx.x"));
}

TEST_CASE("what a GPU has no room for is refused with the numbers") {
  CHECK(pass_refusal(kProduct, kTiled, "opencl -max_threads_per_block=8") ==
        "'mm': expected at most 8 threads in a block on the target 'opencl -max_threads_per_block=8', got 16 "
        "(threadIdx.y 4, threadIdx.x 4)");
  CHECK(pass_refusal(kProduct, kTiled, "opencl -max_shared_memory_per_block=128") ==
        "'mm': expected at most 128 bytes of shared memory for a block on the target 'opencl "
        "-max_shared_memory_per_block=128', got 256 ('AA' 128, 'BB' 128); smaller tiles need less");
  const std::string wide = "split i 2048 -> b t\nbind b blockIdx.x\nbind t threadIdx.x";
  CHECK(contains(pass_refusal(kAdd, wide, "cuda"), "expected at most 1,024 threads in a block"));
  CHECK(contains(pass_refusal(kAdd, "split i 128 -> b t\nbind b blockIdx.x\nbind t threadIdx.z", "cuda"),
                 "expected at most 64 threads along threadIdx.z"));
  CHECK(pass_refusal(kAdd, wide, "opencl") == "none");
  const std::string fetched =
      "C: split i 32768 -> b t\nC: bind b blockIdx.x\nA: cache_read shared C -> AA\nAA: compute_at C b\n";
  CHECK(contains(pass_refusal(kAdd, fetched, "cuda -arch=sm_80,sm_89"),
                 "expected at most 101,376 bytes of shared memory for a block on the target 'cuda "
                 "-arch=sm_80,sm_89', got 131,072 ('AA' 131,072)"));
  CHECK(pass_refusal(kAdd, fetched, "cuda -arch=sm_80") == "none");
}

TEST_CASE("fetched ahead for CUDA, tiles are copied without waiting, and waited for before the barrier") {
  const ir::Function function = kernel(kProduct, kPipelined, "cuda -arch=sm_80");
  const std::string text = ir::to_text(function);
  INFO(text);
  CHECK(count_barriers(function) == 1);
  const std::size_t loop = text.find("for (ko"), wait = text.find("wait_copies(", loop);
  REQUIRE(wait != std::string::npos);
  CHECK(text.find("barrier()", wait) < text.find("copy_async(", wait));
  CHECK(text.find("commit_copies()", wait) < text.find("CL_acc[", wait));
  for (const char* other : {"cuda -arch=sm_75", "cuda -arch=sm_75,sm_90", "opencl"}) {
    const std::string plain = ir::to_text(kernel(kProduct, kPipelined, other));
    INFO(plain);
    CHECK(!contains(plain, "copy_async"));
    CHECK(!contains(plain, "_copies("));
  }
}

TEST_CASE("what is fetched ahead in fewer iterations than there are parts is waited for all the same") {
  for (const std::int64_t depth : {0, 1, 4, 5, 8, 9, 12, 13})
    check_schedule(kProduct, kPipelined, {{"M", 9}, {"N", 10}, {"K", depth}});
}

TEST_CASE("fetched ahead, one barrier an iteration is enough for any number of tiles that is known, and none too few") {
  for (const std::int64_t depth : {8, 12, 16, 24})
    for (const char* gpu : {"cuda -arch=sm_80", "opencl"}) {
      const std::string source = "def mm(int(7," + std::to_string(depth) + ") A, int(" + std::to_string(depth) +
                                 ",6) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
      const ir::Function whole = kernel(source, kPipelined, gpu);
      CAPTURE(depth);
      CAPTURE(std::string(gpu));
      INFO(ir::to_text(whole));
      CHECK(count_barriers(whole) == 1);
      CHECK(complaint(whole, {}) == "none");
      CHECK(complaint(without_barrier(whole, 0), {}) != "none");
    }
}

TEST_CASE(
    "without waiting, without a barrier behind it, or with one copy too many on its way the interpreter complains") {
  const Sizes sizes = {{"M", 13}, {"N", 9}, {"K", 31}};
  const ir::Function whole = kernel(kProduct, kPipelined, "cuda -arch=sm_80");
  REQUIRE(complaint(whole, sizes) == "none");
  for (const std::int64_t more : {1, 100}) {
    const std::string what = complaint(waiting_for_fewer(whole, more), sizes);
    CAPTURE(what);
    CHECK(contains(what, "never written, or whose copy nobody waited for: '"));
  }
  const std::string raced = complaint(without_barrier(whole, 0), sizes);
  CAPTURE(raced);
  CHECK((contains(raced, "a race of threads on '") || contains(raced, "whose copy nobody waited for: '")));
}

TEST_CASE("a gather's kernels check its places first, and go nowhere when one lies outside") {
  const char* const gather = "def f(int(N) A, int(M) I) -> (B) { B(i) = A(I(i) * I(i)) }";
  const std::string blocks = "split i 64 -> b t\nbind b blockIdx.x\nbind t threadIdx.x";
  check_schedule(gather, blocks, {{"N", 65}, {"M", 100}});
  // The indices reach 64: kernels that continued would read outside of A, which the interpreter would report.
  for (const char* gpu : {"opencl", "cuda"})
    CHECK(complaint(kernel(gather, blocks, gpu), {{"N", 10}, {"M", 100}}) == "none");
  CHECK(kernel(gather, blocks, "opencl").messages.size() == 1);
}

TEST_CASE("threads may stand inside of a reduction's loops, each with results of its own") {
  const std::string loops =
      "C: split m 16 -> xo x1\nC: split n 8 -> yo y1\nC: split x1 4 -> xi xio\nC: split y1 4 -> yi yio\n"
      "C: split k 4 -> ko ki\nC: reorder xo yo ko ki xi yi xio yio\nC: bind xo blockIdx.x\nC: bind yo blockIdx.y\n"
      "C: bind xi threadIdx.x\nC: bind yi threadIdx.y\n";
  const std::string fetched =
      loops +
      "A: cache_read shared -> AS\nAS: compute_at C ko\nAS: split i0 4\nAS: bind i0.inner threadIdx.x\n"
      "B: cache_read shared -> BS\nBS: compute_at C ko\nBS: split i1 4 -> bo bi\nBS: bind bo threadIdx.y\n";
  const std::string in_registers = fetched + "AS: cache_read local -> AL\nAL: compute_at C yi\n";
  for (const Sizes& sizes : {Sizes{{"M", 16}, {"N", 8}, {"K", 4}},
                             {{"M", 21}, {"N", 9}, {"K", 11}},
                             {{"M", 3}, {"N", 17}, {"K", 0}},
                             {{"M", 0}, {"N", 1}, {"K", 5}}})
    for (const std::string& schedule : {loops, fetched, in_registers}) check_schedule(kProduct, schedule, sizes);
  const std::string text = lowered_text(kProduct, loops);
  CHECK(contains(text, "local i32 C_acc[4, 4]"));
}

TEST_CASE("ferry's own product for GPUs fetches tiles only where their size does not depend on where they stand") {
  const std::string head = "def f(int q, float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * ";
  CHECK(contains(default_for_gpu(head + "B(k,n) }"), "B.shared"));
  CHECK(contains(default_for_gpu(head + "B(2*k+1,n) where n in 0:N, k in 0:K/2 }"), "B.shared"));
  CHECK(!contains(default_for_gpu(head + "B((k*3+n)/q,n) where n in 0:N, k in 0:K }"), "shared"));
}

TEST_CASE("a reduction on a GPU is finished in registers where all between reads it in place, inlined stages too") {
  const std::string head = "def f(int N, float(M,7) A) -> (D) { B(i) max=! A(i,s) ";
  CHECK(contains(default_for_gpu(head + "D(i) = abs(B(i)) }"), "B: compute_at D"));
  CHECK(contains(default_for_gpu(head + "C(i) = abs(B(i)) D(i) = C(i) + B(i) }"), "B: compute_at D"));
  CHECK(!contains(default_for_gpu(head + "C(i) = abs(B(i/N)) where i in 0:M D(i) = C(i) where i in 0:M }"),
                  "B: compute_at D"));
  CHECK(!contains(default_for_gpu(head + "C(i,j) = B(i) where i in 0:M, j in 0:M D(i) = C(i,i) where i in 0:M }"),
                  "B: compute_at D"));
}
