// Tests that swizzled shared memory preserves results, alone and combined with other directives.
#include "crosscompile/ir/printer.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::test;

namespace {

const char* const kProduct = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

// 32 threads, with tiles of 8 x 16 of A and 16 x 8 of B.
const std::string kSwizzled = R"(cache_write local -> CL
A: cache_read shared CL -> AA
B: cache_read shared CL -> BB
C: split m 8 -> my mi
C: split n 8 -> nx ni
C: split ni 2 -> tx xi
C: reorder my nx mi tx xi
C: bind my blockIdx.y
C: bind nx blockIdx.x
C: bind mi threadIdx.y
C: bind tx threadIdx.x
CL: compute_at C tx
CL: split k 16 -> ko ki
CL: reorder ko ki m n
AA: compute_at CL ko
AA: swizzle
BB: compute_at CL ko
BB: swizzle
BB: fuse i0 i1 -> f
BB: split f 32 -> r t
BB: split t 4 -> ty tx
BB: bind ty threadIdx.y
BB: bind tx threadIdx.x
)";
const std::string kByElement =
    "AA: fuse i0 i1 -> f\nAA: split f 32 -> r t\nAA: split t 4 -> ty tx\nAA: bind ty threadIdx.y\n"
    "AA: bind tx threadIdx.x\n";
const std::string kByFour =
    "AA: split i1 4 -> tx v\nAA: bind i0 threadIdx.y\nAA: bind tx threadIdx.x\nAA: vectorize v\n";

}  // namespace

TEST_CASE("a swizzled tile keeps the result, element by element, in vectors and fetched ahead") {
  for (const std::string& fetch : {kByElement, kByFour, kByFour + "AA: double_buffer 3\n"})
    for (const Sizes& sizes : {Sizes{{"M", 8}, {"N", 8}, {"K", 32}}, {{"M", 13}, {"N", 9}, {"K", 35}}})
      check_schedule(kProduct, kSwizzled + fetch, sizes);
}

TEST_CASE("columns that become rows are swizzled as rows") {
  check_schedule(kProduct, kSwizzled + "AA: transform_layout (i0, i1) -> (i1, i0)\n" + kByElement,
                 {{"M", 13}, {"N", 9}, {"K", 35}});
}

TEST_CASE("four neighbours stay one vector") {
  const std::string text =
      ir::to_text(compiled("def mm(int(64,64) A, int(64,64) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                           kSwizzled + kByFour, resolve_target("cuda -arch=sm_80")));
  INFO(text);
  const std::size_t at = text.find("vectorized for (v");
  REQUIRE(at != std::string::npos);
  CHECK(text.find(") + v] = A[", at) != std::string::npos);
}

TEST_CASE("what is not in shared memory, or has rows of other sizes, is not swizzled") {
  CHECK(refusal(kProduct, "A: cache_read global -> AA\nAA: swizzle").find("expected a tensor in shared memory") !=
        std::string::npos);
  CHECK(refusal(kProduct, "C: swizzle").find("expected an intermediate tensor") != std::string::npos);
}
