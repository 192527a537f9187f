// Tests of non-temporal stores: which stores in the machine code are non-temporal, and that a thread that waits for the
// kernel sees them.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

using namespace ferry;

namespace {

std::string assembly(const std::string& source, const std::string& schedule, const std::string& target_text) {
  const lang::Program program = lang::parse(source, "kernel.tc").at(0);
  const Target target = resolve_target(target_text);
  const auto how = schedule.empty() ? autoschedule::default_schedule(program, target)
                                    : schedule::Schedule::replay(program, schedule);
  const ir::Function function = passes::run_pipeline(lower::lower(program, how), target);
  return codegen::emit_assembly(std::vector<ir::Function>{function}, target);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

constexpr const char* kAvx512 = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4";
constexpr const char* kNontemporal = "split i 16; vectorize i.inner; nontemporal_stores";

std::string doubled(const std::string& size) { return "def twice(float(" + size + ") A) -> (C) { C(i) = A(i) * 2 }"; }

std::string lines(std::string schedule) {
  std::replace(schedule.begin(), schedule.end(), ';', '\n');
  return schedule;
}

}  // namespace

TEST_CASE("whole vectors of a result with non-temporal stores bypass the caches, and a fence follows") {
  const std::string code = assembly(doubled("N"), lines(kNontemporal), kAvx512);
  INFO(code);
  CHECK(count(code, "\tvmovntps\t") == 1);
  CHECK(count(code, "\tsfence") >= 1);
  CHECK(code.find("\tsfence") > code.find("\tvmovntps"));
}

TEST_CASE("every thread's part ends with a fence") {
  const std::string code = assembly(doubled("N"), lines(std::string(kNontemporal) + "; parallel i.outer"), kAvx512);
  INFO(code);
  const std::size_t body = code.find(".parallel:");
  REQUIRE(body != std::string::npos);
  CHECK(code.find("\tvmovntps", body) != std::string::npos);
  CHECK(code.find("\tsfence", body) != std::string::npos);
}

TEST_CASE("rows that may start anywhere go past the caches where they turn out to be aligned") {
  const std::string rows = "def twice(float(M,N) A) -> (C) { C(m,i) = A(m,i) * 2 }";
  for (const char* const target : {kAvx512, "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"}) {
    const std::string code = assembly(rows, lines(kNontemporal), target);
    INFO(code);
    CHECK(count(code, "\tvmovntps\t") >= 1);
    CHECK(count(code, "\tvmovups\t%") >= 1);
    CHECK(count(code, "\tsfence") >= 1);
  }
}

TEST_CASE("results that are read and other machines keep their stores") {
  const std::string read = "def twice(float(N) A) -> (C, D) { C(i) = A(i) * 2  D(i) = C(N - 1 - i) }";
  CHECK(count(assembly(read, lines("C: split i 16; vectorize i.inner; nontemporal_stores"), kAvx512), "movnt") == 0);
  const std::string arm = assembly(doubled("N"), lines("split i 4; vectorize i.inner; nontemporal_stores"),
                                   "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
  CHECK(count(arm, "stnp") == 0);
}

TEST_CASE("results larger than any cache get non-temporal stores by default, smaller ones do not") {
  CHECK(count(assembly(doubled("100000000"), "", kAvx512), "\tvmovntps\t") >= 1);
  CHECK(count(assembly(doubled("1000000"), "", kAvx512), "movnt") == 0);
}

TEST_CASE("pooling of a tensor larger than any cache prefetches each line once and loads it once") {
  const std::string pool =
      "def pool(float(1,52428,64,64) X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h+a,2*w+b) where a in 0:2, b in 0:2 }";
  const std::string code = assembly(pool, "", kAvx512);
  INFO(code);
  // Two rows of 256 bytes of each of four images.
  CHECK(count(code, "\tprefetcht0\t") == 32);
  std::size_t loads = 0;
  std::istringstream lines(code);
  for (std::string line; std::getline(lines, line);)
    loads += std::regex_search(line, std::regex(R"(\(%r(?!ip)[^)]*\),.*%zmm)")) ? 1 : 0;
  CHECK(loads == 32);
  CHECK(count(code, "\tvmovntps\t") == 8);
  CHECK(count(code, "\tvpermt2ps\t") + count(code, "\tvpermi2ps\t") == 32);
}
