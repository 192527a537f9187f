// Tests that a directive that fails, whether it is refused or runs out of memory, leaves the whole schedule as it was.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/schedule.h"
#include "host/schedule/primitives/primitives.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace {

// Number of allocations until one fails; -1 when none does.
long allocations_left = -1;

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace ferry;
using schedule::Attachment;
using schedule::Directive;
using schedule::Schedule;
using schedule::ScheduledStage;

namespace {

std::string text_of(const Attachment& place) { return place.stage + "." + std::to_string(place.loop); }

// Returns everything that directives change.
std::string state_of(const Schedule& schedule) {
  std::string text = schedule.to_text();
  for (const ScheduledStage& stage : schedule.stages()) {
    text +=
        stage.name + " at " + std::to_string(static_cast<int>(stage.compute_kind)) + " " + text_of(stage.compute_at);
    if (stage.store_at) text += " stored at " + text_of(*stage.store_at);
    text += stage.is_touched ? " touched" : "";
    text += stage.scope ? " scope " + std::to_string(static_cast<int>(*stage.scope)) : "";
    text += stage.layout ? " layout " + std::to_string(stage.layout->size()) : "";
    text += " copies " + std::to_string(stage.copies) + " prefetches " + std::to_string(stage.prefetches.size());
    text += " alignments " + std::to_string(stage.alignments.size()) + (stage.nontemporal ? " nontemporal" : "");
    text += std::string(stage.swizzled ? " swizzled" : "") + (stage.tensorized ? " tensorized" : "");
    for (const auto& [axis, extent] : stage.padded)
      text += " padded " + std::to_string(axis) + " " + ir::to_text(extent);
    text += " steps " + std::to_string(stage.unroll_steps.size());
    for (const ir::Axis& axis : stage.axes) text += "\n  axis " + ir::to_text(axis.extent);
    for (const ir::Expr& value : stage.values) text += "\n  value " + ir::to_text(value);
    for (const std::size_t id : stage.loops.order()) {
      const schedule::Loop& loop = stage.loops.loop(id);
      text +=
          "\n  loop " + loop.name + " " + ir::to_text(loop.extent) + " " + std::to_string(static_cast<int>(loop.kind));
    }
    text += "\n";
  }
  return text;
}

// `W` is read by three stages, so that a copy of it changes all of them.
constexpr const char* kSource =
    "def f(float(N,M) A, float(M,K) W, int8(8,4) P, int8(8,4) Q) -> (D, E, F) {\n"
    "  B(i,j) = A(i,j) * W(j,0)\n"
    "  C(i,k) +=! B(i,j) * W(j,k)\n"
    "  D(i,k) = C(i,k) + W(0,k)\n"
    "  E(i) max=! D(i,k)\n"
    "  F(i) +=! int(P(i,k)) * int(Q(i,k))\n}";

Schedule prepared(const lang::Program& program, const std::vector<Directive>& directives) {
  Schedule schedule(program);
  for (const Directive& directive : directives) schedule.apply(directive);
  return schedule;
}

struct Trial {
  std::vector<Directive> before;
  Directive directive;
};

const std::vector<Trial>& trials() {
  static const std::vector<Trial> all = {
      {{}, {"C", "split", {"i", "4"}}},
      {{}, {"C", "tile", {"i", "k", "4", "8"}}},
      {{}, {"C", "fuse", {"i", "k"}}},
      {{}, {"C", "reorder", {"j", "i"}}},
      {{}, {"C", "parallel", {"i"}}},
      {{{"D", "split", {"k", "8"}}}, {"D", "vectorize", {"k.inner"}}},
      {{{"D", "split", {"k", "8"}}}, {"D", "unroll", {"k.inner"}}},
      {{}, {"D", "bind", {"i", "blockIdx.x"}}},
      {{}, {"B", "compute_at", {"C", "i"}}},
      {{{"B", "compute_at", {"C", "k"}}}, {"B", "store_at", {"C", "i"}}},
      {{}, {"B", "compute_inline", {}}},
      {{{"B", "compute_at", {"C", "i"}}}, {"B", "compute_root", {}}},
      {{}, {"", "inline_injective", {}}},
      {{}, {"W", "cache_read", {"local"}}},
      {{}, {"B", "cache_read", {"global"}}},
      {{}, {"C", "cache_write", {"local"}}},
      {{}, {"B", "set_scope", {"local"}}},
      {{}, {"B", "transform_layout", {"(", "a", ",", "b", ")", "->", "(", "b", ",", "a", ")"}}},
      {{}, {"B", "pad", {"i", "16"}}},
      {{{"B", "pad", {"j", "4"}}, {"W", "cache_read", {"global", "C", "->", "V"}}, {"V", "pad", {"i0", "4"}}},
       {"C", "pad", {"j", "4"}}},
      {{}, {"B", "storage_align", {"i", "16", "1"}}},
      {{}, {"B", "swizzle", {}}},
      {{{"B", "compute_at", {"C", "i"}}}, {"B", "double_buffer", {"3"}}},
      {{}, {"D", "nontemporal_stores", {}}},
      {{{"C", "split", {"j", "8"}}}, {"C", "rfactor", {"j.inner"}}},
      {{}, {"F", "flip", {"Q"}}},
      {{}, {"C", "prefetch", {"W", "i", "2"}}},
      {{}, {"F", "tensorize", {"i", "dot"}}},
      {{}, {"D", "pragma", {"i", "auto_unroll_max_step", "16"}}},
  };
  return all;
}

}  // namespace

TEST_CASE("every primitive is tried") {
  for (const schedule::Primitive& primitive : schedule::primitives())
    CHECK_MESSAGE(std::any_of(trials().begin(), trials().end(),
                              [&](const Trial& trial) { return trial.directive.primitive == primitive.name; }),
                  primitive.name);
}

TEST_CASE("a directive that runs out of memory at any point leaves the whole schedule as it was") {
  const lang::Program program = lang::parse(kSource, "test.tc").at(0);
  for (const Trial& trial : trials()) {
    CAPTURE(to_text(trial.directive));
    Schedule schedule = prepared(program, trial.before);
    const std::string before = state_of(schedule);
    bool succeeds = false;
    for (long allowed = 0; !succeeds; ++allowed) {
      CAPTURE(allowed);
      Directive directive = trial.directive;
      allocations_left = allowed;
      try {
        schedule.apply(std::move(directive));
        succeeds = true;
      } catch (const std::bad_alloc&) {
      }
      allocations_left = -1;
      if (!succeeds) {
        REQUIRE(state_of(schedule) == before);
      }
    }
    CHECK(state_of(schedule) != before);
  }
}

TEST_CASE("a refused directive leaves the whole schedule as it was") {
  const lang::Program program = lang::parse(kSource, "test.tc").at(0);
  const std::vector<Directive> refused = {{"W", "cache_read", {"local", "B", "E"}},
                                          {"C", "cache_write", {"local", "->", "B"}},
                                          {"C", "rfactor", {"j"}},
                                          {"C", "tile", {"i", "j", "4", "0"}},
                                          {"C", "fuse", {"k", "j"}},
                                          {"C", "reorder", {"j", "i", "j"}},
                                          {"B", "compute_at", {"D", "j"}},
                                          {"B", "store_at", {"D", "k"}},
                                          {"D", "compute_inline", {}},
                                          {"C", "inline_injective", {}},
                                          {"C", "prefetch", {"A", "i", "2"}},
                                          {"B", "double_buffer", {"9"}},
                                          {"C", "transform_layout", {"(", "a", ")"}},
                                          {"nobody", "split", {"i", "4"}}};
  Schedule schedule = prepared(program, {{"B", "compute_at", {"C", "i"}}, {"D", "split", {"i", "4"}}});
  const std::string before = state_of(schedule);
  for (const Directive& directive : refused) {
    CAPTURE(to_text(directive));
    CHECK_THROWS_AS(schedule.apply(directive), CompileError);
    CHECK(state_of(schedule) == before);
  }
}
