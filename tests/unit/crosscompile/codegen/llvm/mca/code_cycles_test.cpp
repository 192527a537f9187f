// Tests the cycles of machine code: known latencies and rates of cores, and loops that run as often as their sizes say.
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/cost/core.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace ferry;

namespace {

const std::string kProduct = "def mm(float(M,512) A, float(512,512) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

ir::Function compiled(const lang::Program& program, const schedule::Schedule& schedule, const Target& target) {
  return passes::run_pipeline(lower::lower(program, schedule), target);
}

// Returns the cycles with LLVM's model of the target's core, and with serial loops or the default schedule.
std::optional<double> cycles_of(const std::string& source, const lang::FixedSizes& sizes, const Target& target,
                                bool is_serial = false) {
  const lang::Program program = lang::parse(source, "kernel.tc", false, sizes).at(0);
  const schedule::Schedule schedule =
      is_serial ? schedule::Schedule(program) : autoschedule::default_schedule(program, target);
  codegen::CoreModel model;
  model.cpu = cost::core_of(target).scheduling_model;
  return codegen::code_cycles(compiled(program, schedule, target), target, model);
}

}  // namespace

TEST_CASE("multiply-adds that wait for each other take the core's latency each") {
  const std::string dot = "def dot(float(K) A, float(K) B) -> (s) { s() +=! A(k) * B(k) }";
  const struct {
    const char* target;
    double latency;  // as `llvm-mca` says for one that adds to its own result
  } cores[] = {{"llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", 4},
               {"llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512", 4},
               {"raspberry-pi-4", 4},
               {"raspberry-pi-4-32bit", 4},
               {"raspberry-pi-5", 4},
               {"llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-p670", 4}};
  for (const auto& [target, latency] : cores) {
    CAPTURE(target);
    const std::optional<double> cycles = cycles_of(dot, {{"K", 10'000}}, resolve_target(target), true);
    REQUIRE(cycles.has_value());
    CHECK(*cycles / 10'000 == doctest::Approx(latency).epsilon(0.02));
  }
}

TEST_CASE("products come near the rate at which cores multiply and add") {
  const struct {
    const char* target;
    double products;  // multiply-adds of floats a cycle
  } cores[] = {{"llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", 16},
               {"llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512", 32},
               {"llvm -mtriple=x86_64-linux-gnu -mcpu=haswell", 16},
               {"raspberry-pi-4", 4},
               {"raspberry-pi-4-32bit", 4},
               {"raspberry-pi-5", 8},
               {"llvm -mtriple=riscv64-linux-gnu -mcpu=sifive-p670", 8}};
  for (const auto& [target, products] : cores) {
    CAPTURE(target);
    const std::optional<double> cycles = cycles_of(kProduct, {{"M", 512}}, resolve_target(target));
    REQUIRE(cycles.has_value());
    const double least = 512.0 * 512 * 512 / products;
    CHECK(*cycles >= least);
    CHECK(*cycles <= 1.3 * least);
  }
}

TEST_CASE("loops run as often as their sizes say, also those that run in parallel and what is left over of tiles") {
  const Target target = resolve_target("raspberry-pi-4");
  const double whole = cycles_of(kProduct, {{"M", 480}}, target).value();
  CHECK(cycles_of(kProduct, {{"M", 960}}, target).value() == doctest::Approx(2 * whole).epsilon(0.02));
  for (const std::int64_t rows : {481, 482, 483, 485, 487}) {
    CAPTURE(rows);
    const double more = cycles_of(kProduct, {{"M", rows}}, target).value();
    CHECK(more > whole);
    CHECK(more < 1.1 * whole);
  }
}

TEST_CASE("code for cores without a good model, and loops without known sizes, have no cycles") {
  const Target target = resolve_target("raspberry-pi-2");
  const lang::Program program = lang::parse(kProduct, "kernel.tc", false, {{"M", 8}}).at(0);
  const ir::Function function = compiled(program, schedule::Schedule(program), target);
  codegen::CoreModel model;
  model.cpu = "cortex-a7";
  CHECK_FALSE(codegen::code_cycles(function, target, model).has_value());
  CHECK_FALSE(cycles_of(kProduct, {}, resolve_target("raspberry-pi-4")).has_value());
}
