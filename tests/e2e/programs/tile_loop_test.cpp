// Tests of the machine code of products in AMX's tiles: the loop over the depth consists of products and the loads of
// their factors, and the tiles are configured outside. Compiles only, so it needs no machine with tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

using namespace ferry;

namespace {

std::string assembly_of(const std::string& types, const std::string& rows) {
  const std::string source = "def mm(" + types.substr(0, types.find(' ')) + "(" + rows + ",256) A, " +
                             types.substr(types.find(' ') + 1) +
                             "(256,256) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }";
  const lang::Program program = lang::parse(source, "mm.tc").at(0);
  const Target target = resolve_target("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=sapphirerapids");
  const ir::Function lowered = lower::lower(program, autoschedule::default_schedule(program, target));
  return codegen::emit_assembly(std::vector<ir::Function>{passes::run_pipeline(lowered, target)}, target);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// Returns the code from a label to the branch back that has the most of these instructions.
std::string hottest(const std::string& assembly, const std::string& instruction) {
  std::string best, current;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".LBB")) current.clear();
    if (!line.starts_with("\t") || line.starts_with("\t.")) continue;
    current += line + "\n";
    if (line.starts_with("\tj") && count(current, instruction) > count(best, instruction)) best = current;
  }
  return best;
}

}  // namespace

TEST_CASE("the hot loop of a product in tiles loads each factor once and leaves the sums in tiles") {
  const struct {
    const char *types, *instruction;
  } cases[] = {
      {"int8 int8", "tdpbssd"}, {"int8 uint8", "tdpbsud"}, {"uint8 int8", "tdpbusd"}, {"uint8 uint8", "tdpbuud"}};
  for (const auto& [types, instruction] : cases) {
    for (const char* rows : {"64", "M"}) {
      const std::string loop = hottest(assembly_of(types, rows), instruction);
      INFO(loop);
      CHECK(count(loop, instruction) == 4);
      CHECK(count(loop, "tileloadd") == 4);
      CHECK(count(loop, "tilestored") == 0);
      CHECK(count(loop, "ldtilecfg") == 0);
      CHECK(count(loop, "rsp") == 0);
    }
  }
}

TEST_CASE("functions that use tiles release them before they return") {
  const std::string code = assembly_of("uint8 int8", "M");
  CHECK(count(code, "ldtilecfg") >= 1);
  CHECK(count(code, "tilerelease") >= 1);
}
