// Tests that a reduction of several values computes what it reduces once, however often its reducer uses it.
#include "crosscompile/analysis/count_nodes.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::test;

namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The loops that machine code is made of, under the default schedule.
std::size_t nodes_by_default(const std::string& source) {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const Target target = cpu_with_vectors(512);
  const std::string schedule = autoschedule::default_schedule(program, target).to_text();
  return analysis::count_nodes(compiled(source, schedule, target).body);
}

}  // namespace

TEST_CASE("the value that a reduction of several values combines is computed once") {
  for (const char* rows :
       {"V, P(i) argmax=! exp(A(i,k) * 3) + sqrt(B(k,i))", "V, P(i) argmin=! exp(A(i,k)) - sqrt(B(k,i))"}) {
    const std::string source = std::string("def f(float(N,K) A, float(K,N) B) -> (V, P) { ") + rows + " }";
    const std::string loops = lowered_text(source, "");
    INFO(loops);
    CHECK(occurrences(loops, "exp(") == 1);
    CHECK(occurrences(loops, "sqrt(") == 1);
  }
  const std::string integers = "def f(int(N,K) A, int(K,N) B) -> (V, P) { V, P(i) argmax=! A(i,k) * 3 + B(k,i) % 7 }";
  for (const char* schedule : {"", "P: split k 4\n", "P: split i 4\nP: vectorize i.inner\n"})
    check_schedule(integers, schedule, {{"N", 6}, {"K", 11}});
}

TEST_CASE("a tile of a reduction of several values is as small as its code requires") {
  const std::string plain = "def f(float(N,M,K) A, float(K,M) B) -> (V, P) { V, P(i,j) argmax=! A(i,j,k) + B(k,j) }";
  const std::string longer =
      "def f(float(N,M,K) A, float(K,M) B) -> (V, P) {\n"
      "  T(i,j,k) = max(A(i,j,k), B(k,j)) * 2 + (A(i,j,k) > B(k,j) ? A(i,j,k) * B(k,j) : A(i,j,k) - B(k,j))\n"
      "  V, P(i,j) argmax=! T(i,j,k) * T(i,j,k) - min(T(i,j,k), 3) + (T(i,j,k) > 1 ? T(i,j,k) : B(k,j))\n"
      "}";
  CHECK(nodes_by_default(plain) < 5'000);
  CHECK(nodes_by_default(longer) < 20'000);
}
