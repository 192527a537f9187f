#include "crosscompile/foreign/c_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "crosscompile/foreign/c_headers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {
namespace {

constexpr const char* kClang = "clang-19";
constexpr int kNoProgram = 127;

bool ends_with_one_of(const std::string& file, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return file.ends_with(ending); });
}

bool is_cpp(const std::string& file) { return ends_with_one_of(file, {".cc", ".cpp", ".cxx", ".C"}); }

std::string clang() {
  const char* named = std::getenv("FERRY_CLANG");
  return named != nullptr && *named != 0 ? named : kClang;
}

// Exactly the target's processor and features, whatever the driver makes of its own options.
void add_target(std::vector<std::string>& words, const Target& target) {
  words.push_back("--target=" + target.triple);
  if (target.arch == "armv7") words.insert(words.end(), {"-mfloat-abi=hard"});
  if (target.arch == "riscv64") words.insert(words.end(), {"-mabi=lp64d"});
  const auto pass = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {"-Xclang", name, "-Xclang", value});
  };
  pass("-target-cpu", target.cpu);
  for (const std::string& feature : target.features) pass("-target-feature", "+" + feature);
}

// Returns the exit code; what it wrote to stderr is in the file.
int run(const std::vector<std::string>& words, const std::string& error_file) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return kNoProgram;
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}

}  // namespace

bool is_compiled(const std::string& file) {
  return ends_with_one_of(file, {".c", ".cc", ".cpp", ".cxx", ".C", ".ll", ".bc", ".s", ".S"});
}

std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target) {
  if (access(file.c_str(), R_OK) != 0) throw CompileError("cannot read '" + file + "': " + std::strerror(errno));
  const link::TemporaryFolder folder;
  write_c_headers(folder, target.arch);
  const std::string object = folder.file("kernel.o"), errors = folder.file("errors");
  std::vector<std::string> words = {clang(),
                                    "-c",
                                    "-o",
                                    object,
                                    "-O3",
                                    "-gline-tables-only",  // for reports of crashes, and debuggers
                                    "-fPIC",
                                    "-ffunction-sections",
                                    "-fno-stack-protector",
                                    "-fno-asynchronous-unwind-tables",
                                    "-fno-math-errno",
                                    "-Wno-override-module",
                                    "-Wno-unused-command-line-argument"};
  if (ends_with_one_of(file, {".ll", ".bc"})) {
    words.insert(words.end(), {"-x", "ir"});
  } else {
    words.insert(words.end(), {"-ffreestanding", "-nostdlibinc", "-isystem", folder.file("")});
    if (is_cpp(file))
      words.insert(words.end(), {"-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"});
  }
  add_target(words, target);
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back(file);
  const int code = run(words, errors);
  if (code == kNoProgram) {
    throw CompileError("expected the program " + clang() + " to compile " + file +
                       ", got none: install it (Debian: apt install clang-19), or name another with FERRY_CLANG");
  }
  if (code != 0) {
    const std::vector<std::uint8_t> text = link::read_file(errors);
    throw CompileError(clang() + " refuses " + file + ":\n" + std::string(text.begin(), text.end()));
  }
  return link::read_file(object);
}

}  // namespace ferry::foreign
