#include "crosscompile/foreign/c_compiler.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "crosscompile/foreign/c_headers.h"
#include "crosscompile/foreign/cpp_headers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/abi.h"

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

// Passes exactly the target's processor and features, so that the driver's own defaults do not matter.
void add_target(std::vector<std::string>& words, const Target& target) {
  words.push_back("--target=" + target.triple);
  const Abi abi = abi_of(target);
  if (const std::string name = abi.float_abi; !name.empty()) words.push_back("-mfloat-abi=" + name);
  if (const std::string name = abi.calling_convention; !name.empty()) words.push_back("-mabi=" + name);
  const auto pass = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {"-Xclang", name, "-Xclang", value});
  };
  pass("-target-cpu", target.cpu);
  for (const std::string& feature : target.features) pass("-target-feature", "+" + feature);
}

// Has SIGALRM end this process, or what it becomes by exec, after this many seconds.
void end_after(double seconds) {
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);
  const double whole = std::floor(seconds);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6);
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// Returns the exit code; the process writes its output to the two files. `deadline`: in seconds; 0: none.
int run(const std::vector<std::string>& words, const std::string& output_file, const std::string& error_file,
        const std::vector<std::string>& environment = {}, double deadline = 0) {
  std::vector<char*> arguments, variables;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return kNoProgram;
  if (child == 0) {
    // The child dies with its parent, whose deadline may expire while the child runs.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kNoProgram);
    const int streams[] = {open("/dev/null", O_RDONLY), open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
                           open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    for (int stream = 0; stream < 3; ++stream)
      if (dup2(streams[stream], stream) < 0) _exit(kNoProgram);
    if (deadline > 0) end_after(deadline);
    execvpe(arguments[0], arguments.data(), variables.data());
    _exit(kNoProgram);
  }
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

std::string text_of(const std::string& file) {
  const std::vector<std::uint8_t> bytes = link::read_file(file);
  return {bytes.begin(), bytes.end()};
}

// Throws CompileError with clang's own message on failure.
void run_clang(const std::vector<std::string>& mode, const std::string& file, const std::vector<std::string>& flags,
               const Target& target, const link::TemporaryFolder& folder, const std::string& output) {
  if (access(file.c_str(), R_OK) != 0) throw CompileError("cannot read '" + file + "': " + std::strerror(errno));
  write_c_headers(folder, target);
  std::vector<std::string> words = {clang()};
  words.insert(words.end(), mode.begin(), mode.end());
  if (ends_with_one_of(file, {".ll", ".bc"})) {
    words.insert(words.end(), {"-x", "ir"});
  } else {
    // The folder has another name in each run, and debug information names its headers.
    words.insert(words.end(), {"-ffreestanding", "-nostdlibinc", "-isystem", folder.file(""),
                               "-fdebug-prefix-map=" + folder.file("") + "=ferry/"});
    if (is_cpp(file)) {
      write_cpp_headers(folder);
      words.insert(words.end(), {"-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"});
    }
  }
  add_target(words, target);
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back(file);
  const std::string errors = folder.file("errors");
  const int code = run(words, output, errors);
  if (code == kNoProgram) {
    throw CompileError("expected the program " + clang() + " to compile " + file +
                       ", got none: install it (Debian: apt install clang-19), or name another with FERRY_CLANG");
  }
  if (code == 0) return;
  std::string text = text_of(errors);
  text.resize(text.find_last_not_of('\n') + 1);
  const std::string advice = advice_on_headers(text);
  throw CompileError(clang() + " refuses " + file + ":\n" + text + (advice.empty() ? "" : "\n" + advice));
}

}  // namespace

bool is_compiled(const std::string& file) {
  return ends_with_one_of(file, {".c", ".cc", ".cpp", ".cxx", ".C", ".ll", ".bc", ".s", ".S"});
}

bool has_syntax(const std::string& file) { return ends_with_one_of(file, {".c", ".cc", ".cpp", ".cxx", ".C"}); }

std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target) {
  const link::TemporaryFolder folder;
  const std::string object = folder.file("kernel.o");
  run_clang({"-c", "-o", object, "-O3",
             "-gline-tables-only",  // for crash reports and debuggers
             "-fPIC", "-ffunction-sections", "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
             "-fno-math-errno", "-Wno-override-module", "-Wno-unused-command-line-argument"},
            file, flags, target, folder, "/dev/null");
  return link::read_file(object);
}

void compile_sanitized(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                       const std::string& sanitizers, const std::string& object) {
  const link::TemporaryFolder folder;
  run_clang(
      {"-c", "-o", object, "-O1", "-g", "-fPIE", "-fno-omit-frame-pointer", sanitizers, "-fno-sanitize=function,vptr",
       "-fno-sanitize-recover=all", "-fno-math-errno", "-Wno-unused-command-line-argument"},
      file, flags, target, folder, "/dev/null");
}

void link_program(const std::vector<std::string>& words, const std::string& program) {
  const link::TemporaryFolder folder;
  const std::string errors = folder.file("errors");
  std::vector<std::string> command = {clang(), "-o", program};
  command.insert(command.end(), words.begin(), words.end());
  if (run(command, "/dev/null", errors) == 0) return;
  std::string text = text_of(errors);
  text.resize(text.find_last_not_of('\n') + 1);
  throw CompileError(clang() + " cannot link a program with its sanitizers; install them (Debian: apt install " +
                     "libclang-rt-19-dev libc6-dev):\n" + text);
}

ProgramEnd run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                       double deadline) {
  const link::TemporaryFolder folder;
  const std::string errors = folder.file("errors");
  const int code = run(words, "/dev/null", errors, environment, deadline);
  return {code, code == 128 + SIGALRM, text_of(errors)};
}

std::string syntax_tree(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                        const std::string& function) {
  const link::TemporaryFolder folder;
  const std::string dump = folder.file("dump");
  run_clang({"-fsyntax-only", "-w", "-fno-color-diagnostics", "-Xclang", "-ast-dump", "-Xclang",
             "-ast-dump-filter=" + function},
            file, flags, target, folder, dump);
  return text_of(dump);
}

}  // namespace ferry::foreign
