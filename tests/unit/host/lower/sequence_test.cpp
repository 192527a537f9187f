// Tests that recurrences and scatters keep their order under schedules, at sizes that the factors divide and at others.
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::test;

namespace {

struct Kernel {
  const char* name;
  const char* source;
  Sizes sizes;
};

const Kernel kKernels[] = {
    {"running sums", "def f(int(N) X) -> (S) { S(j) = X(j) + (j >= 1 ? S(j-1) : 0) along j }", {{"N", 37}}},
    {"running sums of no element",
     "def f(int(N) X) -> (S) { S(j) = X(j) + (j >= 1 ? S(j-1) : 0) along j }",
     {{"N", 0}}},
    {"running sums of rows",
     "def f(int(M,N) X) -> (S) { S(i,j) = X(i,j) + (j >= 1 ? S(i,j-1) : 0) along j }",
     {{"M", 13}, {"N", 29}}},
    {"running sums of columns",
     "def f(int(M,N) X) -> (S) { S(i,j) = X(i,j) + (i >= 1 ? S(i-1,j) : 0) along i }",
     {{"M", 13}, {"N", 29}}},
    {"running sums in the middle",
     "def f(int(3,M,N) X) -> (S) { S(b,i,j) = X(b,i,j) * 3 - (i >= 2 ? S(b,i-2,j) : 1) along i }",
     {{"M", 7}, {"N", 35}}},
    {"in place", "def f(int(M,N) S) -> (S) { S(i,j) += S(i,j-1) along j }", {{"M", 5}, {"N", 19}}},
    {"in place, from the end of a row before",
     "def f(int(M,N) S) -> (S) { S(i,j) += S(i-1,N-1-j) along i }",
     {{"M", 9}, {"N", 21}}},
    {"the steps of a recurrent network",
     "def f(int(T,N) X, int(N,N) W) -> (H) {\n"
     "  H(t,n) = X(t,n) where t in 0:T, n in 0:N\n  H(t,n) += W(n,k) * H(t-1,k) along t\n}",
     {{"T", 6}, {"N", 11}}},
    {"a linear recurrence",
     "def f(int(N) X, int(K) C) -> (Y) { Y(n) = X(n)  Y(n) += C(k) * Y(n-1-k) along n where n in 5:N, k in 0:5 }",
     {{"N", 41}, {"K", 5}}},
    {"read by another stage",
     "def f(int(M,N) X) -> (Y) {\n  S(i,j) = X(i,j) + (j >= 1 ? S(i,j-1) : 0) along j\n  Y(i,j) = S(i,j) * 2 + i\n}",
     {{"M", 6}, {"N", 17}}},
    {"of what another stage computes",
     "def f(int(M,N) X) -> (S) {\n  A(i,j) = X(i,j) * X(i,j)\n  S(i,j) = A(i,j) + (i >= 1 ? S(i-1,j) : 0) along i\n}",
     {{"M", 6}, {"N", 17}}},
    {"a histogram",
     "def f(int8(N) I) -> (H) { H(b) = 0 where b in 0:256  H(int(I(u)) + 128) += 1 along u }",
     {{"N", 300}}},
    {"the last of several values",
     "def f(uint8(N) I, int(N,M) X, int(256,M) Y) -> (Y) { Y(I(u),j) = X(u,j) along u }",
     {{"N", 23}, {"M", 13}}},
    {"rows added up",
     "def f(uint8(N) I, int(N,M) X, int(256,M) Y) -> (Y) { Y(I(u),j) += X(u,j) along u }",
     {{"N", 23}, {"M", 37}}},
    {"columns multiplied and limited",
     "def f(uint8(N) I, int(M,N) X, int(M,256) Y) -> (Y) {\n"
     "  Y(i,I(u)) *= X(i,u) along u\n  Y(i,I(u)) max= X(i,u) along u\n  Y(i,I(u)) min= X(i,u) + 3 along u\n}",
     {{"N", 19}, {"M", 5}}},
    {"a result read after updates",
     "def f(uint8(N) I, int(N) X) -> (Z) {\n"
     "  Y(b) = b where b in 0:256\n  Y(I(u)) += X(u) along u\n  Z(b) = Y(b) * 2 + Y(255-b)\n}",
     {{"N", 40}}},
    {"updates of an argument that is read elsewhere",
     "def f(uint8(N) I, int(256) X) -> (Y) { Y(b) = X(b)  Y(I(u)) += X(I(N-1-u)) along u }",
     {{"N", 31}}},
};

void check(const char* source, const std::string& schedule, const Sizes& sizes) {
  INFO(schedule);
  check_schedule(source, schedule, sizes);
}

const char* const kColumns = kKernels[3].source;
const char* const kMiddle = kKernels[4].source;
const char* const kRecurrent = kKernels[7].source;
const char* const kRows = kKernels[13].source;

}  // namespace

TEST_CASE("the default schedules of CPUs and GPUs keep the order of recurrences and updates") {
  for (const Kernel& kernel : kKernels) {
    for (const Target& target :
         {cpu_with_vectors(128), cpu_with_vectors(512), resolve_target("cuda"), resolve_target("opencl")}) {
      const lang::Program program = lang::parse(kernel.source, "test.tc").at(0);
      const std::string text = autoschedule::default_schedule(program, target).to_text();
      INFO(kernel.name << " for " << target.text << "\n" << text);
      check_schedule(kernel.source, text, kernel.sizes);
    }
  }
}

TEST_CASE("schedules move and divide the loops around a sequence") {
  for (const Sizes& sizes : {Sizes{{"M", 13}, {"N", 29}}, Sizes{{"M", 1}, {"N", 1}}, Sizes{{"M", 8}, {"N", 32}},
                             Sizes{{"M", 0}, {"N", 3}}}) {
    check(kColumns, "reorder j i", sizes);
    check(kColumns, "split j 8\nreorder j.outer i j.inner\nvectorize j.inner\nparallel j.outer", sizes);
    check(kColumns, "split i 4\nsplit j 8\nreorder j.outer i.outer i.inner j.inner\nunroll j.inner", sizes);
    check(kColumns, "split i nparts 3\nreorder i.outer i.inner j", sizes);
    check(kMiddle, "reorder b j i\nfuse b j\nparallel b.j.fused", sizes);
    check(kMiddle, "reorder b j i\ntile b j 2 8 -> bo jo bi ji\nreorder bo jo i bi ji\nvectorize ji", sizes);
    check(kMiddle, "cache_write global -> T\nT: compute_at S b", sizes);
  }
}

TEST_CASE("schedules move and divide the loops inside a step of a sequence") {
  for (const Sizes& sizes : {Sizes{{"T", 6}, {"N", 11}}, Sizes{{"T", 1}, {"N", 8}}, Sizes{{"T", 0}, {"N", 3}}}) {
    check(kRecurrent, "H: parallel n", sizes);
    check(kRecurrent, "H: split n 4\nH: reorder t n.outer k n.inner\nH: vectorize n.inner", sizes);
    check(kRecurrent, "H: reorder t k n\nH: split n 8\nH: vectorize n.inner", sizes);
    check(kRecurrent, "H: split t 4\nH: split k 3\nH: reorder t.outer t.inner k.outer n k.inner", sizes);
  }
}

TEST_CASE("schedules move and divide the loops of updates") {
  for (const Sizes& sizes : {Sizes{{"N", 23}, {"M", 37}}, Sizes{{"N", 0}, {"M", 3}}, Sizes{{"N", 9}, {"M", 0}}}) {
    check(kRows, "split j 8\nvectorize j.inner", sizes);
    check(kRows, "reorder j u\nparallel j", sizes);
    check(kRows, "split u 4\nreorder j u.outer u.inner\nsplit j 8\nunroll j.inner", sizes);
    check(kRows, "I: cache_read global -> J", sizes);
  }
}
