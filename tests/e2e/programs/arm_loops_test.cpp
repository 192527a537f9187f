// The tests have no board, so the hot loops of kernels for ARM and RISC-V are judged by their instructions: they do not
// access the stack, and by LLVM's model of the core (llvm-mca) they run near the peak rate of multiply-adds.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

using namespace ferry;
namespace fs = std::filesystem;

namespace {

struct Kernel {
  std::string name, source;
};

const Kernel kKernels[] = {
    {"SGEMM 1024", "def mm(float(1024,1024) A, float(1024,1024) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"},
    {"conv 3x3 64x56x56",
     "def conv(float(1,64,56,56) I, float(64,64,3,3) K) -> (Y) {\n"
     "  P(n,c,h,w) = h >= 1 && h <= 56 && w >= 1 && w <= 56 ? I(n,c,h-1,w-1) : 0 where h in 0:58, w in 0:58\n"
     "  Y(n,o,h,w) +=! P(n,c,h+kh,w+kw) * K(o,c,kh,kw)\n}"},
    {"depthwise 3x3 32x112x112",
     "def depthwise(float(1,32,112,112) I, float(32,3,3) K) -> (Y) {\n"
     "  P(n,c,h,w) = h >= 1 && h <= 112 && w >= 1 && w <= 112 ? I(n,c,h-1,w-1) : 0 where h in 0:114, w in 0:114\n"
     "  Y(n,c,h,w) +=! P(n,c,h+kh,w+kw) * K(c,kh,kw)\n}"},
};

std::string assembly_of(const std::string& source, const Target& target) {
  const lang::Program program = lang::parse(source, "kernel.tc").at(0);
  const ir::Function lowered = lower::lower(program, autoschedule::default_schedule(program, target));
  return codegen::emit_assembly(std::vector<ir::Function>{passes::run_pipeline(lowered, target)}, target);
}

struct Loop {
  std::vector<std::string> instructions;
  int multiplies = 0;

  std::string text() const {
    std::string all;
    for (const std::string& line : instructions) all += line + "\n";
    return all;
  }
  bool uses_stack() const { return std::regex_search(text(), std::regex(R"(\[sp\b|\(sp\))")); }
};

// Returns the loop, from its label to the branch back, with the most multiply-adds; of several the shortest, since
// there are copies with conditions for the borders of a tensor.
Loop hottest(const std::string& assembly, const std::regex& multiply) {
  Loop best, current;
  std::istringstream lines(assembly);
  std::string label;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".LBB")) {
      label = line.substr(0, line.find(':'));
      current = {};
      continue;
    }
    if (!line.starts_with("\t") || line.starts_with("\t.")) continue;
    current.instructions.push_back(line.substr(0, line.find("//")));
    current.multiplies += std::regex_search(line, multiply) ? 1 : 0;
    const bool goes_back = !label.empty() && line.size() > label.size() && line.ends_with(label);
    if (!goes_back) continue;
    const bool is_shorter = current.multiplies == best.multiplies &&
                            (best.instructions.empty() || current.instructions.size() < best.instructions.size());
    if (current.multiplies > best.multiplies || is_shorter) best = current;
  }
  return best;
}

// Returns the cycles per iteration when the instructions repeat, by LLVM's model of the core.
double modelled_cycles(const std::string& instructions, const std::string& core) {
  char name[] = "/tmp/ferry-mca-XXXXXX";
  const int file = mkstemp(name);
  REQUIRE(file >= 0);
  close(file);
  std::ofstream(name) << instructions;
  const std::string command =
      std::string(FERRY_LLVM_MCA) + " -mtriple=aarch64-linux-gnu -mcpu=" + core + " -iterations=100 " + name + " 2>&1";
  FILE* output = popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  std::string text;
  char piece[4096];
  while (const std::size_t count = fread(piece, 1, sizeof piece, output)) text.append(piece, count);
  pclose(output);
  fs::remove(name);
  std::smatch match;
  REQUIRE_MESSAGE(std::regex_search(text, match, std::regex(R"(Total Cycles:\s+(\d+))")), text);
  return std::stod(match[1]) / 100;
}

// Returns the cycles per multiply-add in a loop that contains nothing else.
double cycles_at_peak(const std::string& core) {
  constexpr int kChains = 24;
  std::string text;
  for (int i = 0; i < kChains; ++i) text += "\tfmla\tv" + std::to_string(i) + ".4s, v30.4s, v31.4s\n";
  return modelled_cycles(text, core) / kChains;
}

}  // namespace

TEST_CASE("the hot loops on Cortex-A72 and A76 keep off the stack and near the peak of multiply-adds") {
  constexpr double kShareOfPeak = 0.9;
  const std::pair<std::string, std::string> boards[] = {{"raspberry-pi-4", "cortex-a72"},
                                                        {"raspberry-pi-5", "cortex-a76"}};
  for (const auto& [name, core] : boards) {
    const Target target = resolve_target(name);
    const double peak = cycles_at_peak(core);
    for (const Kernel& kernel : kKernels) {
      const Loop loop = hottest(assembly_of(kernel.source, target), std::regex(R"(^\t(fmla|fmul)\t)"));
      const double share = loop.multiplies * peak / modelled_cycles(loop.text(), core);
      INFO(kernel.name << " on " << core << ": " << loop.multiplies << " multiply-adds in " << loop.instructions.size()
                       << " instructions, " << share << " of the peak");
      INFO(loop.text());
      CHECK(loop.multiplies >= 12);
      CHECK_FALSE(loop.uses_stack());
      CHECK(share >= kShareOfPeak);
    }
  }
}

TEST_CASE("the hot loop of a product on each 32-bit Raspberry Pi keeps its sums where they are") {
  for (const char* name : {"raspberry-pi-2", "raspberry-pi-3-32bit", "raspberry-pi-4-32bit"}) {
    CAPTURE(std::string(name));
    const Loop loop = hottest(assembly_of(kKernels[0].source, resolve_target(name)), std::regex(R"(^\tvfma\.f32\t)"));
    INFO(loop.text());
    CHECK(loop.multiplies >= 10);
    CHECK(static_cast<double>(loop.instructions.size()) <= 2.2 * loop.multiplies);
    CHECK(loop.text().find("vorr") == std::string::npos);
    CHECK_FALSE(loop.uses_stack());
  }
}

TEST_CASE("the hot loop of a convolution in blocks on 32-bit ARM increments its addresses") {
  const Kernel kernel = {"conv 3x3 64x54x54 NCHW4c",
                         "def conv(float(16,56,56,4) I, const float(16,16,3,3,4,4) K) -> (Y) {\n"
                         "  Y(o,h,w,p) +=! I(c,h+kh,w+kw,i) * K(o,c,kh,kw,i,p) where h in 0:54, w in 0:54\n}"};
  const Loop loop =
      hottest(assembly_of(kernel.source, resolve_target("raspberry-pi-2")), std::regex(R"(^\t(vfma|vmla)\.f32\t)"));
  INFO(loop.text());
  CHECK(loop.multiplies >= 12);
  CHECK_FALSE(loop.uses_stack());
  // At most one more instruction for each load: of 6 pixels and 2 vectors of filters for 12 multiply-adds.
  CHECK(static_cast<double>(loop.instructions.size()) <= 2.5 * loop.multiplies);
}

TEST_CASE("the hot loops on RISC-V vectors keep off the stack") {
  const Target target = resolve_target("llvm -mtriple=riscv64-linux-gnu -mattr=+v");
  for (const Kernel& kernel : kKernels) {
    const Loop loop = hottest(assembly_of(kernel.source, target), std::regex(R"(^\tvf(macc|madd|mul)\.v[vf]\t)"));
    INFO(kernel.name << "\n" << loop.text());
    CHECK(loop.multiplies >= 4);
    CHECK_FALSE(loop.uses_stack());
  }
}
