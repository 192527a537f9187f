#include "ferry/compile.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/schedule.h"

#include <doctest/doctest.h>

using namespace ferry;

namespace {

const char* const kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

}  // namespace

TEST_CASE("a module carries the schedule it was compiled with, its knobs bound") {
  const CompiledModule module =
      compile(kProduct, target("x86-64-v3"), {.text = "split m $rows in {4,8}", .knobs = {{"rows", "8"}}});
  CHECK(module.schedule() == "def mm\nC: split m 8\n");
  CHECK(module.source() == kProduct);
}

TEST_CASE("a module carries the default schedule too, and compiles to the same bytes from it") {
  const CompiledModule module = compile(kProduct, target("x86-64-v3"));
  CHECK(module.schedule().starts_with("def mm\nC: "));
  CHECK(compile(kProduct, target("x86-64-v3"), ScheduleText{module.schedule()}).bytes() == module.bytes());
}

TEST_CASE("a schedule that was built directive by directive travels as its text") {
  const lang::Program program = lang::parse(kProduct, "mm.tc").at(0);
  schedule::Schedule schedule(program);
  schedule["C"].tile("m", "n", 4, 8);
  CHECK(compile(program, schedule, target("x86-64-v3")).schedule() == "def mm\nC: tile m n 4 8\n");
}
