// C that ferry printed, compiled by another compiler and run in a separate process.
#pragma once

#include "tests/unit/crosscompile/codegen/llvm/runner/runner_files.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferry::test {

// Runs a program to its end and returns its exit code; the program inherits the test's standard error.
int run_program(const std::vector<std::string>& words);

struct CCompiler {
  std::string runner;                // the runner object to link with
  std::vector<std::string> command;  // the compiler with its options
  std::vector<std::string> emulator = {};
};

// gcc for this machine, with AddressSanitizer and UndefinedBehaviorSanitizer.
CCompiler sanitizing_gcc();
// gcc for the other architectures, whose programs run in emulators.
std::vector<CCompiler> cross_gccs();

// Thrown if the compiler refuses the text or the program fails; the message contains the text.
class PrintedProgramError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PrintedProgram {
 public:
  // Any warning is an error. `symbols` are those of the kernels that will be called.
  PrintedProgram(const CCompiler& compiler, const std::string& text, const std::vector<std::string>& symbols);
  ~PrintedProgram();

  // Returns the runner's output, see runner_files.h.
  std::vector<std::uint8_t> run(const std::vector<runner::Call>& calls) const;

 private:
  struct Files;
  CCompiler compiler_;
  std::string text_;
  std::string program_;  // the path of the executable
  std::unique_ptr<Files> files_;
};

}  // namespace ferry::test
