// C that ferry printed, compiled by another compiler and run in a process of its own.
#pragma once

#include "tests/unit/crosscompile/codegen/llvm/runner/runner_files.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferry::test {

// Runs a program to its end and returns its exit code; its messages go where the test's go.
int run_program(const std::vector<std::string>& words);

struct CCompiler {
  std::string runner;                // which of the objects to link with
  std::vector<std::string> command;  // with its options
  std::vector<std::string> emulator = {};
};

// gcc with the sanitizers of addresses and undefined behaviour, on this machine.
CCompiler sanitizing_gcc();
// gcc for the other architectures, whose programs run in emulators.
std::vector<CCompiler> cross_gccs();

// The compiler refused the text, or the program ended badly; the message has the text.
class PrintedProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PrintedProgram {
 public:
  // No warning is let through. `symbols` are those of the kernels that will be called.
  PrintedProgram(const CCompiler& compiler, const std::string& text, const std::vector<std::string>& symbols);
  ~PrintedProgram();

  // What the runner writes, see runner_files.h.
  std::vector<std::uint8_t> run(const std::vector<runner::Call>& calls) const;

 private:
  struct Files;
  CCompiler compiler_;
  std::string text_;
  std::unique_ptr<Files> files_;
};

}  // namespace ferry::test
