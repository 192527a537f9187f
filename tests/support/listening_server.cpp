#include "tests/support/listening_server.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

namespace ferry::test {

namespace {

std::string first_line(int descriptor) {
  std::string line;
  for (char c = 0; read(descriptor, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

ListeningServer::ListeningServer(const std::string& program, const std::vector<std::string>& emulator,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> command = emulator;
  command.push_back(program);
  command.insert(command.end(), {"--port", "0"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  encrypted_ = std::any_of(arguments.begin(), arguments.end(),
                           [](const std::string& word) { return word.rfind("--key-file", 0) == 0; });
  if (!encrypted_) command.push_back("--insecure-plaintext");
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);

  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe for " + program);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(words[0], words.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  const std::string line = first_line(output_);
  const std::size_t colon = line.rfind(':');
  if (line.rfind("rpc_server listening on ", 0) != 0 || colon == std::string::npos)
    throw std::runtime_error(command[0] + " ... " + program + ": expected 'rpc_server listening on HOST:PORT', got '" +
                             line + "' (is it built? scripts/build.sh)");
  port_ = std::stoi(line.substr(colon + 1));
}

ListeningServer::~ListeningServer() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  close(output_);
}

}  // namespace ferry::test
