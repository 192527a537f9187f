// End-to-end tests of comparing kernels in C: their inputs, their sizes, and what is said of weak comparisons.
#include <doctest/doctest.h>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

// A filter in Q15: the products of small numbers are 0 in it.
std::string fir(const std::string& body) {
  return "#include <stdint.h>\n// ferry: fir(in i16[n+7] x, in i16[8] h, out i16[n] y, i64 n)\n"
         "void fir(const int16_t* x, const int16_t* h, int16_t* y, int64_t n) {\n"
         "  for (int64_t i = 0; i < n; ++i) {\n    int64_t sum = 0;\n"
         "    for (int k = 0; k < 8; ++k) sum += (int32_t)x[i + k] * h[k];\n    sum >>= 15;\n    " +
         body + "\n  }\n}\n";
}
const std::string kRight = fir("y[i] = sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum;");

std::string scale(const std::string& factor) {
  return "#include <stdint.h>\n// ferry: scale(in f32[5*s] c, out f32[n] y, i64 n, i64 s)\n"
         "void scale(const float* c, float* y, int64_t n, int64_t s) {\n"
         "  for (int64_t i = 0; i < n; ++i) y[i] = " +
         factor + " * c[i % (5 * s)];\n}\n";
}

// The seed is fixed: one set of random coefficients in 500 is so small that no sum of the filter overflows.
std::vector<std::string> quickly(std::vector<std::string> words) {
  for (const char* word : {"--threads", "1", "--processes", "3", "--repeat", "3", "--seed", "1"})
    words.emplace_back(word);
  return words;
}

}  // namespace

TEST_CASE("a filter that writes zeros is not the same as one that filters, unless its inputs are small") {
  const Folder folder;
  const std::string right = folder.file("fir.c", kRight), again = folder.file("again.c", kRight + "\n");
  const std::string zeros = folder.file("zeros.c", fir("y[i] = 0;"));
  const std::string wraps = folder.file("wraps.c", fir("y[i] = (int16_t)sum;"));
  for (const std::string& wrong : {zeros, wraps}) {
    const Outcome compared = run_ferry(quickly({"compare", right, wrong, "--size", "n=64"}));
    CHECK(compared.code == 1);
    CHECK_MESSAGE(contains(compared.err, "A and B differ: y["), compared.err);
    const Outcome checked = run_ferry({"run", wrong, "--size", "n=64", "--check-against", right});
    CHECK(checked.code == 1);
    CHECK(run_ferry({"check", wrong, "--size", "n=64", "--check-against", right}).code == 1);
  }
  const Outcome same = run_ferry(quickly({"compare", right, again, "--size", "n=64"}));
  CAPTURE(same.err);
  CHECK(same.code == 0);
  CHECK_MESSAGE(
      contains(same.out, "the same from the same inputs (x: i16 from -32768 to 32767, h: i16 from -32768 to 32767)"),
      same.out);
  CHECK_FALSE(contains(same.out, "warning    every element"));
  const std::vector<std::string> small = {"--size", "n=64", "--arg", "x=:below(8)", "--arg", "h=:below(8)"};
  std::vector<std::string> words = quickly({"compare", right, zeros});
  words.insert(words.end(), small.begin(), small.end());
  const Outcome vacuous = run_ferry(words);
  CHECK(vacuous.code == 0);
  CHECK_MESSAGE(contains(vacuous.out, "warning    every element of y is 0: "), vacuous.out);
  CHECK(contains(vacuous.out, "warning    the result did not change when x changed: "));
  words = {"run", zeros, "--check-against", right, "--json"};
  words.insert(words.end(), small.begin(), small.end());
  const Outcome checked = run_ferry(words);
  CHECK(checked.code == 0);
  CHECK(contains(checked.err, "ferry: warning: every element of y is 0: "));
  CHECK(contains(checked.out, "\"warnings\": ["));
}

TEST_CASE("a kernel with a size that occurs only as 5*s is compared and checked like any other") {
  const Folder folder;
  const std::string one = folder.file("one.c", scale("2")), same = folder.file("same.c", scale("(1.0f + 1)"));
  const std::string other = folder.file("other.c", scale("3"));
  const std::vector<std::string> sizes = {"--size", "n=32,s=3"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), sizes.begin(), sizes.end());
    const Outcome outcome = run_ferry(words);
    CAPTURE(outcome.err);
    CHECK(outcome.code < 2);
    return outcome.code;
  };
  CHECK(run(quickly({"compare", one, same})) == 0);
  CHECK(run(quickly({"compare", one, other})) == 1);
  CHECK(run({"run", one, "--check-against", same}) == 0);
  CHECK(run({"run", one, "--check-against", other}) == 1);
  CHECK(run({"check", one, "--check-against", same}) == 0);
}

TEST_CASE("the machine code of a kernel in C is shown, and that of both kernels that are compared") {
  const Folder folder;
  const std::string right = folder.file("fir.c", kRight), module = folder.path("fir.ferry");
  const Outcome whole = run_ferry({"compile", "--emit", "asm", right});
  CAPTURE(whole.err);
  CHECK(whole.code == 0);
  CHECK_MESSAGE(contains(whole.out, "fir:\n"), whole.out);
  CHECK(contains(whole.out, "ret"));
  const Outcome loops = run_ferry({"inspect", "--asm", right, "--target", "raspberry-pi-4"});
  CHECK(loops.code == 0);
  CHECK_MESSAGE(contains(loops.out, "fir: a loop of "), loops.out);
  CHECK(contains(loops.out, " instructions in the code of one iteration\nL1:\n"));
  REQUIRE(run_ferry({"compile", right, "--target", "raspberry-pi-4", "-o", module}).code == 0);
  CHECK(run_ferry({"inspect", "--asm", module}).out == loops.out);
  CHECK(contains(run_ferry({"inspect", "--asm", module, "--json"}).out, "\"instructions\": "));
  const std::string matmul = folder.file("mm.tc", test::kMatmul);
  CHECK(contains(run_ferry({"inspect", "--asm", matmul, "--target", "raspberry-pi-4"}).out, "ferry_fn_mm"));
  CHECK(run_ferry({"inspect", "--asm", matmul, "--target", "c"}).code == 2);
  const Outcome both =
      run_ferry(quickly({"compare", right, right, "--size", "n=64", "--asm", "--cflags=", "--cflags-b", "-O1"}));
  CAPTURE(both.err);
  CHECK(both.code == 0);
  const std::size_t a = both.out.find("\nA  "), b = both.out.find("\nB  ", a);
  REQUIRE(a != std::string::npos);
  REQUIRE(b != std::string::npos);
  CHECK(contains(both.out.substr(a, b - a), "fir: a loop of "));
  CHECK(both.out.substr(a + 4, b - a - 4) != both.out.substr(b + 4));
}
