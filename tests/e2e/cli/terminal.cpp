#include "tests/e2e/cli/terminal.h"

#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/paths.h"

namespace ferry::test {

Outcome run_on_terminal(const std::vector<std::string>& words, unsigned short columns,
                        const std::map<std::string, std::string>& environment, const std::string& typed) {
  const std::string program = FERRY_BINARY_DIR "/bin/ferry";
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const winsize size{40, columns, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("cannot make a terminal");
  if (child == 0) {
    for (const char* name : {"FERRY_REMOTE", "FERRY_KEY_FILE", "FERRY_DEVICES", "NO_COLOR"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execv(program.c_str(), arguments.data());
    _exit(126);
  }
  Outcome outcome;
  if (write(terminal, typed.data(), typed.size()) != static_cast<ssize_t>(typed.size()))
    throw std::runtime_error("cannot type on a terminal");
  char bytes[4096];
  // Reading fails with EIO once the other end is closed.
  for (ssize_t count; (count = read(terminal, bytes, sizeof bytes)) > 0;)
    outcome.out.append(bytes, static_cast<std::size_t>(count));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::string text;
  for (std::size_t i = 0; i < outcome.out.size(); ++i)
    if (outcome.out[i] != '\r' || outcome.out.compare(i, 2, "\r\n") != 0) text += outcome.out[i];
  outcome.out = text;
  return outcome;
}

}  // namespace ferry::test
