#include "tests/unit/crosscompile/codegen/printed/printed_program.h"

#include "crosscompile/link/temporary_folder.h"
#include "tests/support/kept/kept_file.h"

#include <sys/wait.h>
#include <unistd.h>

namespace ferry::test {

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string table_of(const std::vector<std::string>& symbols) {
  std::string text = "struct LinkedKernel { const char* symbol; int (*kernel)(void* const*, const void*); };\n";
  std::string entries;
  for (const std::string& symbol : symbols) {
    text += "int " + symbol + "(void* const* args, const void* rt);\n";
    entries += "  {\"" + symbol + "\", " + symbol + "},\n";
  }
  return text + "extern const struct LinkedKernel kLinkedKernels[];\nconst struct LinkedKernel kLinkedKernels[] = {\n" +
         entries + "  {0, 0}};\n";
}

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

struct PrintedProgram::Files {
  link::TemporaryFolder folder;
};

CCompiler sanitizing_gcc() {
  return {"sanitized",
          {"gcc", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"}};
}

std::vector<CCompiler> cross_gccs() {
  return {
      {"armv7", {"arm-linux-gnueabihf-gcc", "-O2", "-static", "-march=armv7-a+fp"}, {"qemu-arm", "-cpu", "cortex-a7"}},
      {"aarch64", {"aarch64-linux-gnu-gcc", "-O2", "-static"}, {"qemu-aarch64", "-cpu", "cortex-a72"}},
      {"riscv64", {"riscv64-linux-gnu-gcc", "-O2", "-static"}, {"qemu-riscv64", "-cpu", "rv64,v=false"}}};
}

PrintedProgram::PrintedProgram(const CCompiler& compiler, const std::string& text,
                               const std::vector<std::string>& symbols)
    : compiler_(compiler), text_(text), files_(std::make_unique<Files>()) {
  const std::string runner = FERRY_LINKED_RUNNERS + compiler.runner + ".o", table = table_of(symbols);
  const std::vector<std::string> options = {"-std=c11", "-Wall", "-Wextra", "-Werror"};
  std::vector<std::string> inputs = joined(joined(compiler.command, options), {version_of(compiler.command[0])});
  program_ = kept_file(joined(std::move(inputs), {file_contents(runner), text, table}), [&](const std::string& path) {
    const link::TemporaryFolder& folder = files_->folder;
    link::write_file(folder.file("kernels.c"), bytes_of(text));
    link::write_file(folder.file("table.c"), bytes_of(table));
    const std::string object = folder.file("kernels.o");
    if (run_program(joined(joined(compiler.command, options), {"-c", "-o", object, folder.file("kernels.c")})) != 0)
      throw PrintedProgramError(compiler.command[0] + " refuses\n" + text);
    if (run_program(
            joined(compiler.command, {"-o", path, runner, object, folder.file("table.c"), "-lstdc++", "-lm"})) != 0)
      throw PrintedProgramError(compiler.command[0] + " cannot link\n" + text);
  });
}

PrintedProgram::~PrintedProgram() = default;

std::vector<std::uint8_t> PrintedProgram::run(const std::vector<runner::Call>& calls) const {
  const link::TemporaryFolder& folder = files_->folder;
  link::write_file(folder.file("cases"), runner::write_calls(calls));
  if (run_program(joined(compiler_.emulator, {program_, folder.file("cases"), folder.file("results")})) != 0)
    throw PrintedProgramError("compiled by " + compiler_.command[0] + ", this ends badly:\n" + text_);
  return link::read_file(folder.file("results"));
}

}  // namespace ferry::test
