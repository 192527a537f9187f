#include "tests/support/farm_process/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace ferry::test {
namespace {

constexpr std::chrono::seconds kPatience{20};

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Process::Process(std::vector<std::string> command, std::string output, std::vector<std::string> environment,
                 int network_namespace)
    : output_(std::move(output)) {
  output_start_ = contents_of(output_).size();
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  if (network_namespace >= 0 && setns(network_namespace, CLONE_NEWNET) != 0) _exit(126);
  const int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  for (std::string& entry : environment) putenv(entry.data());
  execvp(words[0], words.data());
  _exit(127);
}

Process::~Process() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void Process::signal(int number) const {
  if (process_ > 0) kill(process_, number);
}

bool Process::has_ended() const {
  siginfo_t ended{};
  return process_ < 0 ||
         (waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0);
}

int Process::wait(std::chrono::seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (waitpid(process_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("expected the process to end, got:\n" + output());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Process::output() const { return contents_of(output_).substr(output_start_); }

std::string Process::wait_for(const std::string& text) const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const std::string all = output();
    const std::size_t at = all.find(text);
    const std::size_t end = at == std::string::npos ? at : all.find('\n', at);
    if (end != std::string::npos) return all.substr(at + text.size(), end - at - text.size());
    if (has_ended() || std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("expected a line with '" + text + "', got:\n" + all);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

double Process::cpu_seconds() const {
  const std::string stat = contents_of("/proc/" + std::to_string(process_) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  long user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double Process::peak_megabytes() const {
  std::istringstream words(contents_of("/proc/" + std::to_string(process_) + "/status"));
  for (std::string word; words >> word;) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    words >> kilobytes;
    return kilobytes / 1024;
  }
  return 0;
}

}  // namespace ferry::test
