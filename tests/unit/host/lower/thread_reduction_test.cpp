// Tests of reductions over the threads of a block: as loops, by shuffles within warps, and as a tree in shared memory.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/shuffle.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/gpu_schedules.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/support/without_barrier.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::test;

namespace {

const std::string kSum = "def rows(int(N,K) A) -> (C) { C(i) +=! A(i,k) }";

ir::Function kernel(const std::string& source, const std::string& schedule, const std::string& target) {
  return compiled(source, schedule, resolve_target(target));
}

class ShuffleFinder : public ir::Mutator {
 public:
  int found = 0;

 protected:
  ir::Stmt mutate_node(const ir::Store& node, const ir::Stmt& self) override {
    found += ir::shuffle_of(node) != nullptr ? 1 : 0;
    return self;
  }
  using ir::Mutator::mutate_node;
};

int count_shuffles(const ir::Function& function) {
  ShuffleFinder finder;
  (void)finder.mutate(function.body);
  return finder.found;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("threads sum up a row in any number and of any length") {
  for (const int threads : {1, 2, 3, 7, 16, 24, 32, 33, 64, 96, 100, 128, 256})
    for (const std::int64_t length : {0, 1, 31, 100, 257})
      check_schedule(kSum, row_by_block("C", threads), {{"N", 3}, {"K", length}});
}

TEST_CASE("several rows of a block are summed up beside each other") {
  for (const int threads : {1, 2, 6, 8, 32, 40, 64})
    for (const std::int64_t rows : {1, 4, 7})
      check_schedule(kSum, rows_by_block("C", 4, threads), {{"N", rows}, {"K", 75}});
}

TEST_CASE("every reduction can be over threads, tuples and initial values included") {
  const std::string schedule = row_by_block("C", 40);
  for (const char* source :
       {"def f(int(N,K) A) -> (C) { C(i) max=! A(i,k) }", "def f(int(N,K) A) -> (C) { C(i) *=! A(i,k) }",
        "def f(int8(N,K) A) -> (C) { C(i) min=! A(i,k) }", "def f(int64(N,K) A) -> (C) { C(i) +=! A(i,k) }",
        "def f(int(N,K) A) -> (C) { C(i) any=! A(i,k) > 2 }", "def f(int(N,K) A) -> (C) { C(i) argmax=! A(i,k) }",
        "def f(float16(N,K) A) -> (C) { C(i) max=! A(i,k) }", "def f(int(N,K) A, int(N) C) -> (C) { C(i) += A(i,k) }"})
    for (const Sizes& sizes : {Sizes{{"N", 3}, {"K", 1}}, {{"N", 2}, {"K", 77}}})
      check_schedule(source, schedule, sizes);
  std::string pairs = row_by_block("I", 64);
  check_schedule("def f(int(N,K) A) -> (V, I) { V, I(i) argmax=! A(i,k) }", pairs, {{"N", 4}, {"K", 150}});
}

TEST_CASE("threads combine along any axes of the block") {
  // Columns: adjacent threads belong to different sums.
  const std::string columns =
      "C: split k 8 -> ko ki\nC: rfactor ki -> P\nC: split i 32 -> io ii\nC: bind io blockIdx.x\n"
      "C: bind ii threadIdx.x\nC: bind ki threadIdx.y\nP: compute_at C ki\n";
  const ir::Function function = kernel(kSum, columns, "cuda");
  CHECK(count_shuffles(function) == 0);
  check_schedule(kSum, columns, {{"N", 70}, {"K", 29}});
  const std::string both =
      "C: split k 96 -> ko ki\nC: rfactor ki -> P\nC: split ki 16 -> ky kx\nC: bind i blockIdx.x\n"
      "C: bind ky threadIdx.y\nC: bind kx threadIdx.x\nP: compute_at C kx\n";
  check_schedule(kSum, both, {{"N", 3}, {"K", 500}});
  CHECK(count_shuffles(kernel(kSum, both, "cuda")) == 1);
}

TEST_CASE("a thread may keep a partial result for each of several sums, and for each of several parts") {
  const std::string source = "def f(int(N,K) A) -> (C) { C(i) +=! A(i,k) }";
  for (const char* order : {"C: reorder io ki ii\nP: compute_at C ii\n", "C: reorder io ii ki\nP: compute_at C ki\n"})
    check_schedule(source,
                   "C: split k 32 -> ko ki\nC: rfactor ki -> P\nC: split i 4 -> io ii\nC: bind io blockIdx.x\n"
                   "C: bind ki threadIdx.x\n" +
                       std::string(order),
                   {{"N", 10}, {"K", 100}});
  for (const char* order : {"C: reorder i kp kt\n", "C: reorder i kt kp\n"})
    check_schedule(source,
                   "C: split k 96 -> ko ki\nC: rfactor ki -> P\nC: split ki 32 -> kp kt\nC: bind i blockIdx.x\n"
                   "C: bind kt threadIdx.x\n" +
                       std::string(order) + "P: compute_at C " + (std::string(order).back() == '\n' ? "kt" : "") + "\n",
                   {{"N", 3}, {"K", 300}});
}

TEST_CASE("all threads of a block may use what they have summed up") {
  const std::string source = "def f(int(N,K) A) -> (B) { S(i) +=! A(i,k)  B(i,j) = A(i,j) - S(i) }";
  for (const char* scope : {"shared", "local"})
    for (const int threads : {20, 32, 64, 96})
      check_schedule(source,
                     "S: split k " + std::to_string(threads) + " -> ko ki\nS: rfactor ki -> P\nB: split j " +
                         std::to_string(threads) +
                         " -> jo ji\nB: bind i blockIdx.x\nB: bind ji threadIdx.x\nS: compute_at B i\n"
                         "S: bind ki threadIdx.x\nP: compute_at S ki\nS: set_scope " +
                         scope + "\n",
                     {{"N", 3}, {"K", 130}});
}

TEST_CASE("stages whose threads combine stand beside stages with other axes") {
  // The second stage's threads along y do not contribute to the sums.
  const std::string source = "def f(int(N,K) A) -> (B) { S(i) +=! A(i,k)  B(i,j) = A(i,j) - S(i) }";
  check_schedule(source,
                 "S: split k 16 -> ko ki\nS: rfactor ki -> P\nB: split j 32 -> jo ji\nB: split ji 16 -> jy jx\n"
                 "B: bind i blockIdx.x\nB: bind jy threadIdx.y\nB: bind jx threadIdx.x\nS: compute_at B i\n"
                 "S: bind ki threadIdx.x\nP: compute_at S ki\n",
                 {{"N", 3}, {"K", 130}});
}

TEST_CASE("warps shuffle and wait once for each other; trees wait at every step") {
  const std::string schedule = row_by_block("C", 256);
  const ir::Function shuffled = kernel(kSum, schedule, "cuda"), tree = kernel(kSum, schedule, "opencl");
  INFO(ir::to_text(shuffled) << ir::to_text(tree));
  CHECK(count_shuffles(shuffled) == 2);
  CHECK(count_barriers(shuffled) == 1);
  CHECK(count_shuffles(tree) == 0);
  CHECK(count_barriers(tree) == 2);  // one of them in a loop of eight steps
  CHECK(count_barriers(kernel(kSum, row_by_block("C", 32), "cuda")) == 0);
}

TEST_CASE("without any one of its barriers the interpreter finds the race in a reduction") {
  const Sizes sizes = {{"N", 2}, {"K", 700}};
  for (const char* target : {"cuda", "opencl"}) {
    const ir::Function whole = kernel(kSum, row_by_block("C", 256), target);
    REQUIRE(complaint(whole, sizes) == "none");
    for (int barrier = 0; barrier < count_barriers(whole); ++barrier) {
      const std::string what = complaint(without_barrier(whole, barrier), sizes);
      CAPTURE(what);
      CHECK((contains(what, "a race of threads on 'C_acc_") || contains(what, "never written: 'C_acc_")));
    }
  }
}

TEST_CASE("what cannot be reduced over threads is refused") {
  CHECK(contains(refusal(kSum, "split k 32 -> ko ki\nbind ki threadIdx.x"),
                 "reduces: its iterations write the same "
                 "elements; rfactor it first"));
  const std::string partial = "split k 32 -> ko ki\nrfactor ki -> P\n";
  CHECK(contains(refusal(kSum, partial + "C: bind ki blockIdx.x"), "rfactor it first"));
  CHECK(contains(refusal(kSum, partial + "C: bind ki vthread"), "rfactor it first"));
  CHECK(contains(refusal(kSum, partial + "C: split ki 4 -> a b\nC: bind a threadIdx.x\nC: vectorize b reduce"),
                 "expected a reduction by threads or by lanes of vectors, got both"));
}
