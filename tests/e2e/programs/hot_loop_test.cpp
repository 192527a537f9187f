// Tests of the innermost loops of tensorized products: they contain the instruction once for each vector of the tile
// and the loads it needs, and do not access the stack.
#include <doctest/doctest.h>

#include <sstream>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"

using namespace ferry;

namespace {

struct Loop {
  std::size_t instructions = 0, dots = 0;
  bool uses_stack = false;
  std::string text;
};

// Returns the code from a label to the branch back that has the most of these instructions.
Loop hottest(const std::string& assembly, const std::string& instruction) {
  Loop best, current;
  std::istringstream lines(assembly);
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".LBB")) {
      current = {};
      ended = false;
    }
    if (!line.starts_with("\t") || line.starts_with("\t.") || ended) continue;
    ++current.instructions;
    current.dots += line.starts_with("\t" + instruction + "\t");
    current.uses_stack = current.uses_stack || line.find("rsp") != std::string::npos ||
                         line.find("[sp") != std::string::npos || line.find("(sp)") != std::string::npos;
    current.text += line + "\n";
    ended = line.starts_with("\tj") || line.starts_with("\tb.");
    if (current.dots > best.dots) best = current;
  }
  return best;
}

Loop compiled(const std::string& types, const std::string& sum, int group, int lanes, int vectors, int rows,
              const std::string& target_text, const std::string& instruction) {
  const auto text = [](int number) { return std::to_string(number); };
  const std::string source = "def mm(" + types.substr(0, types.find(' ')) + "(240,256) A, " +
                             types.substr(types.find(' ') + 1) + "(256,256) B) -> (C) { C(m,n) +=! " + sum +
                             "(A(m,k)) * " + sum + "(B(k,n)) }";
  const std::string schedule = "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / " + text(lanes) +
                               ", k / " + text(group) + ", n % " + text(lanes) + ", k % " + text(group) +
                               ")\nC: split k " + text(group) + " -> ko ki\nsplit m " + text(rows) +
                               " -> mo mi\nsplit n " + text(lanes) + " -> nt ni\nsplit nt " + text(vectors) +
                               " -> no nv\nreorder no mo ko mi nv ni ki\nunroll mi\nunroll nv\ntensorize ni dot\n";
  const lang::Program program = lang::parse(source, "mm.tc").at(0);
  const Target target = resolve_target(target_text);
  const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule));
  return hottest(codegen::emit_assembly(std::vector<ir::Function>{passes::run_pipeline(lowered, target)}, target),
                 instruction);
}

}  // namespace

TEST_CASE("the hot loop of a tensorized product is its instruction and the loads of both sides") {
  const struct {
    const char *types, *sum;
    int group, lanes, vectors, rows;
    const char *target, *instruction;
  } cases[] = {
      {"uint8 int8", "int", 4, 16, 4, 6, "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", "vpdpbusd"},
      {"bfloat16 bfloat16", "float", 2, 16, 4, 6, "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", "vdpbf16ps"},
      {"uint8 int8", "int", 4, 16, 2, 12, "llvm -mtriple=x86_64-linux-gnu -mcpu=sapphirerapids", "vpdpbusd"},
      {"int8 int8", "int", 4, 4, 4, 5, "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", "sdot"},
      {"uint8 uint8", "int", 4, 4, 4, 5, "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", "udot"},
      {"int16 int16", "int", 2, 16, 2, 12, "llvm -mtriple=x86_64-linux-gnu -mcpu=znver4", "vpdpwssd"},
  };
  for (const auto& c : cases) {
    const Loop loop = compiled(c.types, c.sum, c.group, c.lanes, c.vectors, c.rows, c.target, c.instruction);
    INFO(c.types << " for " << c.target << "\n" << loop.text);
    const auto tile = static_cast<std::size_t>(c.rows * c.vectors);
    CHECK(loop.dots % tile == 0);
    CHECK(loop.dots >= tile);
    CHECK_FALSE(loop.uses_stack);
    // Each row takes two instructions for its load and the address, each vector one load; the rest is loop control.
    const std::size_t turns = std::max<std::size_t>(loop.dots / tile, 1);
    CHECK(loop.instructions <= turns * (tile + static_cast<std::size_t>(2 * c.rows + c.vectors)) + 8);
  }
}
