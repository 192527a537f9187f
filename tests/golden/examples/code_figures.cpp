#include "tests/golden/examples/code_figures.h"

#include <algorithm>
#include <iterator>
#include <regex>

#include "host/kernel/hot_code.h"

namespace ferry::test {

namespace {

struct VectorForm {
  std::regex operand;
  const char* width;
};

// The widest first, of all architectures, whose registers have different names. Scalar floats stand in the same
// registers on x86, where their instructions end in ss and sd, and in s0 and d0 on ARM.
const VectorForm kForms[] = {
    {std::regex("%zmm"), "512 bits"},
    {std::regex("%ymm"), "256 bits"},
    {std::regex(R"(^(?!\S*(ss|sd|movq|movd)\b).*%xmm)"), "128 bits"},
    {std::regex(R"(\bv\d+\.(16b|8h|4s|2d)|\bq\d+)"), "128 bits"},
    {std::regex(R"(\bv\d+\.(8b|4h|2s))"), "64 bits"},
    {std::regex(R"(vset.*\bm8\b)"), "m8"},
    {std::regex(R"(vset.*\bm4\b)"), "m4"},
    {std::regex(R"(vset.*\bm2\b)"), "m2"},
    {std::regex(R"(vset.*\bm1\b)"), "m1"},
    {std::regex(R"(vset.*\bmf\d\b)"), "mf"},
};

}  // namespace

CodeFigures figures_of(std::span<const MachineFunction> functions) {
  static const std::regex stack(R"(%[re][sb]p\)|\[sp|\(sp\)|\(s0\))");
  CodeFigures figures;
  std::size_t widest = std::size(kForms);
  for (const MachineFunction& function : functions) {
    figures.instructions += function.instructions.size();
    for (const MachineInstruction& instruction : function.instructions)
      for (std::size_t form = 0; form < widest; ++form)
        if (std::regex_search(instruction.text, kForms[form].operand)) widest = form;
    for (const CodeLoop& loop : innermost_loops(function)) {
      ++figures.loops;
      figures.largest_loop = std::max(figures.largest_loop, loop.size());
      for (std::size_t i = loop.first; i <= loop.last; ++i)
        figures.stack_accesses += std::regex_search(function.instructions[i].text, stack);
    }
  }
  figures.vectors = widest < std::size(kForms) ? kForms[widest].width : "none";
  return figures;
}

std::string to_text(const CodeFigures& figures) {
  return std::to_string(figures.instructions) + " instructions, " +
         (figures.vectors == "none" ? "no vectors" : "vectors of " + figures.vectors) + ", " +
         std::to_string(figures.loops) + " innermost loops" +
         (figures.loops == 0 ? "" : " of at most " + std::to_string(figures.largest_loop)) + ", " +
         std::to_string(figures.stack_accesses) + " stack accesses in them";
}

}  // namespace ferry::test
