// Compares the disassembler with GNU's objdump, which shares no code with it.
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/lines.h"
#include "crosscompile/link/temporary_folder.h"
#include "ferry/lang/text.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "module/module_file.h"

using namespace ferry;

namespace {

const char* const kKernels =
    "def product(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }\n"
    "def curve(float(N) A) -> (B) { B(i) = tanh(A(i)) + A(i) / 3 }\n"
    "def count(int32(N) A) -> (B) { B(i) = A(i) % 7 }\n";

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char piece[4096];
  while (const std::size_t size = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, size);
  CHECK_MESSAGE(pclose(pipe) == 0, command);
  return text;
}

struct ReferenceInstruction {
  std::uint64_t address = 0;
  std::string text;
};
using Reference = std::map<std::string, std::vector<ReferenceInstruction>>;

Reference functions_in(const std::string& dump) {
  const std::regex head("[0-9a-f]+ <(.+)>:"), line(" *([0-9a-f]+):\\s+(.*)"), comment("\\s(@|#|//|;)\\s.*");
  Reference functions;
  std::string name;
  for (const std::string_view text : lines_of(dump)) {
    std::smatch match;
    const std::string copy(text);
    if (std::regex_match(copy, match, head)) {
      // Labels within functions, which images for RISC-V keep, begin no function.
      if (match[1].str().front() != '.') name = match[1];
    } else if (std::regex_match(copy, match, line) && !name.empty()) {
      functions[name].push_back({std::stoull(match[1], nullptr, 16), std::regex_replace(match[2].str(), comment, "")});
    }
  }
  return functions;
}

// Returns the position of the instruction to which this one branches within the function.
std::optional<std::size_t> target_of(const std::vector<ReferenceInstruction>& function, const std::string& name,
                                     const std::string& text) {
  static const std::regex kBranch("(\\S+)\\s.*?([0-9a-f]+) <([^>+]+)(\\+0x[0-9a-f]+)?>.*");
  static const std::regex kOther("call.*|bl|blx|adrp?|lea.*|mov.*");
  std::smatch match;
  if (!std::regex_match(text, match, kBranch) || std::regex_match(match[1].str(), kOther)) return {};
  if (match[3] != name && match[3].str().front() != '.') return {};
  const std::uint64_t address = std::stoull(match[2], nullptr, 16);
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (function[i].address == address) return i;
  }
  return {};
}

}  // namespace

TEST_CASE("functions have the instructions and branches that objdump finds") {
  const auto compiler = make_compiler();
  const std::vector<lang::Program> programs = lang::parse(kKernels, "k.tc");
  const std::pair<const char*, const char*> targets[] = {{"x86-64", "objdump"},
                                                         {"armv7", "arm-linux-gnueabihf-objdump"},
                                                         {"aarch64", "aarch64-linux-gnu-objdump"},
                                                         {"riscv64", "riscv64-linux-gnu-objdump"}};
  for (const auto& [name, program] : targets) {
    CAPTURE(std::string(name));
    const Target target = compiler->resolve_target(name).value;
    const auto module = read_module(compiler->compile({{programs}, target}).module);
    REQUIRE(module.is_ok());
    const std::vector<std::uint8_t>& image = module.value().images.front().bytes;
    const link::TemporaryFolder folder;
    link::write_file(folder.file("image.so"), image);
    const Reference reference =
        functions_in(output_of(std::string(program) + " -d --no-show-raw-insn -j .text " + folder.file("image.so")));
    const std::vector<MachineFunction> functions = compiler->disassemble(image, target);
    CHECK(functions.size() >= 3);
    std::size_t branches = 0;
    for (const MachineFunction& function : functions) {
      CAPTURE(function.name);
      const auto expected = reference.find(function.name);
      REQUIRE(expected != reference.end());
      // Instructions that fill the space up to the next function do not count.
      REQUIRE(function.instructions.size() <= expected->second.size());
      CHECK(function.instructions.size() + 16 > expected->second.size());
      for (std::size_t i = 0; i < function.instructions.size(); ++i) {
        const std::string& text = expected->second[i].text;
        const auto branch = target_of(expected->second, function.name, text);
        CHECK_MESSAGE(function.instructions[i].target == branch, function.instructions[i].text << " for " << text);
        CHECK_MESSAGE(function.instructions[i].text.starts_with(".byte") == text.starts_with(".word"), text);
        branches += branch.has_value() ? 1 : 0;
      }
    }
    CHECK(branches > 20);
  }
}

TEST_CASE("texts have no addresses and branches name what they lead to") {
  const auto compiler = make_compiler();
  const std::vector<lang::Program> programs = lang::parse(kKernels, "k.tc");
  for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(std::string(name));
    const Target target = compiler->resolve_target(name).value;
    const auto module = read_module(compiler->compile({{programs}, target}).module);
    REQUIRE(module.is_ok());
    for (const MachineFunction& function : compiler->disassemble(module.value().images.front().bytes, target)) {
      for (const MachineInstruction& instruction : function.instructions) {
        const std::string& text = instruction.text;
        CHECK_MESSAGE(text.find_first_of("\t\n") == std::string::npos, text);
        const std::size_t relative = text.find("(%rip)");
        const bool names_data =
            relative == std::string::npos || (relative >= 5 && text.substr(relative - 5, 5) == " data");
        CHECK_MESSAGE(names_data, text);
        if (instruction.target) CHECK_MESSAGE(text.find("0x") == std::string::npos, text);
      }
    }
  }
}

TEST_CASE("what is no image has no functions") {
  const auto compiler = make_compiler();
  const Target target = compiler->resolve_target("x86-64").value;
  CHECK(compiler->disassemble({}, target).empty());
  const std::vector<std::uint8_t> text = {'\x7f', 'E', 'L', 'F', 2, 1, 1, 0};
  CHECK(compiler->disassemble(text, target).empty());
}
