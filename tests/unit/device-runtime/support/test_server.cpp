#include "tests/unit/device-runtime/support/test_server.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/seccomp_program.h"
#include "tests/paths.h"
#include "tests/support/architectures/architectures.h"
#include "tests/unit/device-runtime/support/compile_kernel.h"

namespace ferry::test {
namespace {

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Creates an empty file with a unique name.
std::string temporary_file() {
  char pattern[] = "/tmp/ferry-test-XXXXXX";
  const int file = mkstemp(pattern);
  REQUIRE(file >= 0);
  close(file);
  return pattern;
}

// From now on an agent receives system calls of this process and what it executes, as in some containers, so that the
// system reports none to others; it keeps the descriptor open, but none of the calls is ever made.
void add_agent(bool allows_tracing) {
  SeccompProgram<16> program;
  program.answer_call(__NR_acct, program.kNotify);
  if (!allows_tracing) program.answer_call(__NR_ptrace, program.kRefuse);
  program.answer(program.kAllow);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || dup(program.install_with_listener(0)) < 0) _exit(126);
}

pid_t spawn(const std::vector<std::string>& words, int output, const std::string& error_file) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(output, STDOUT_FILENO);
    const int errors = open(error_file.c_str(), O_WRONLY | O_APPEND);
    dup2(errors, STDERR_FILENO);
    const TimingIsolation isolation = possible_isolation();
    if (isolation != TimingIsolation::notify) add_agent(isolation == TimingIsolation::trace);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  return child;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Waits up to 20 s, because emulated programs on a loaded machine are slow.
int wait_for_end(pid_t process) {
  for (int i = 0; i < 20000; ++i) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) return exit_code(status);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  FAIL("the server did not end within 20 s");
  return -1;
}

std::string read_first_line(int output) {
  std::string line;
  char letter = 0;
  while (line.find('\n') == std::string::npos) {
    pollfd entry{output, POLLIN, 0};
    if (poll(&entry, 1, 20000) <= 0 || read(output, &letter, 1) != 1) break;
    line += letter;
  }
  if (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace

TimingIsolation possible_isolation() {
  const std::string name = environment("FERRY_TEST_ISOLATION");
  if (name.empty()) return TimingIsolation::notify;
  REQUIRE((name == "trace" || name == "pipe"));
  return name == "trace" ? TimingIsolation::trace : TimingIsolation::pipe;
}

std::string server_arch() {
  const std::string arch = environment("FERRY_TEST_ARCH");
  return arch.empty() ? native_arch() : arch;
}

std::vector<std::string> server_command() {
  // In a sanitizer build, kernels that crash must end by their signal as in other builds.
  setenv("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:allocator_may_return_null=1",
         0);
  const std::string arch = environment("FERRY_TEST_ARCH");
  if (arch.empty()) return {FERRY_BINARY_DIR "/device-runtime/rpc_server"};
  std::string flavour = environment("FERRY_TEST_FLAVOUR");
  if (flavour.empty()) flavour = "static";
  const std::string program = FERRY_SOURCE_DIR "/build/device/" + arch + "/" + flavour + "/rpc_server";
  REQUIRE_MESSAGE(std::filesystem::exists(program), program << " is not there: run scripts/build.sh --device");
  std::vector<std::string> words = emulator_with_libraries(arch);
  words.push_back(program);
  return words;
}

ProcessResult run_server_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = server_command();
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string output_file = temporary_file(), error_file = temporary_file();
  const int output = open(output_file.c_str(), O_WRONLY | O_CLOEXEC);
  const pid_t process = spawn(words, output, error_file);
  close(output);
  const int code = wait_for_end(process);
  ProcessResult result{code, slurp(output_file), slurp(error_file)};
  unlink(output_file.c_str());
  unlink(error_file.c_str());
  return result;
}

TestServer::TestServer(std::vector<std::string> arguments, const std::vector<std::string>& wrapper, Access access)
    : error_file_(temporary_file()) {
  std::vector<std::string> words = server_command();
  words.insert(words.begin(), wrapper.begin(), wrapper.end());
  const auto add_default = [&](const char* option, const char* value) {
    for (const std::string& argument : arguments) {
      if (argument == option) return;
    }
    words.insert(words.end(), {option, value});
  };
  add_default("--port", "0");
  add_default("--sessions", "8");
  if (access == Access::open_to_all && std::find(arguments.begin(), arguments.end(), "--key-file") == arguments.end()) {
    words.push_back("--insecure-plaintext");
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  process_ = spawn(words, ends[1], error_file_);
  close(ends[1]);
  first_line_ = read_first_line(ends[0]);
  close(ends[0]);
  const std::size_t colon = first_line_.rfind(':');
  REQUIRE_MESSAGE(colon != std::string::npos, "the server said '" << first_line_ << "' and " << errors());
  port_ = static_cast<std::uint16_t>(std::stoi(first_line_.substr(colon + 1)));
}

TestServer::~TestServer() {
  if (process_ > 0) stop(SIGTERM);
  unlink(error_file_.c_str());
}

int TestServer::stop(int signal) {
  kill(process_, signal);
  const int code = wait_for_end(process_);
  process_ = -1;
  return code;
}

std::string TestServer::errors() const { return slurp(error_file_); }

std::vector<pid_t> children_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

bool has_ended(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos || text[name_end + 2] == 'Z';
}

std::vector<pid_t> running_children_of(pid_t process, std::size_t most) {
  std::vector<pid_t> children;
  for (int i = 0; i < 500; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    children = children_of(process);
    std::erase_if(children, has_ended);
    if (children.size() <= most) break;
  }
  return children;
}

std::vector<pid_t> only_child_of(pid_t process) { return running_children_of(process, 1); }

}  // namespace ferry::test
