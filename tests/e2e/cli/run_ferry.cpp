#include "tests/e2e/cli/run_ferry.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/paths.h"

namespace ferry::test {

const char* const kMatmul = "def mm(float32(M,K) A, float32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

namespace {

Outcome run_program(const std::string& program, const std::vector<std::string>& words, const std::string& input,
                    const std::map<std::string, std::string>& environment, const std::string& folder) {
  const Folder streams;
  const std::string in = streams.file("in", input), out = streams.path("out"), err = streams.path("err");
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    // The tests must not use the keys, the devices and the cached networks of the user who runs them. OpenCL's cache of
    // compiled kernels stays: without it, tests of examples for GPUs take more than twice as long.
    for (const char* name : {"FERRY_REMOTE", "FERRY_KEY_FILE", "FERRY_DEVICES"}) unsetenv(name);
    setenv("XDG_CONFIG_HOME", streams.path("config").c_str(), 1);
    setenv("XDG_DATA_HOME", streams.path("data").c_str(), 1);
    setenv("FERRY_CACHE_DISABLE", "1", 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const int files[] = {open(in.c_str(), O_RDONLY), open(out.c_str(), O_WRONLY | O_CREAT, 0600),
                         open(err.c_str(), O_WRONLY | O_CREAT, 0600)};
    for (int stream = 0; stream < 3; ++stream) {
      if (dup2(files[stream], stream) < 0) _exit(125);
    }
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(124);
    execv(program.c_str(), arguments.data());
    _exit(126);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out), content_of(err),
          elapsed.count()};
}

}  // namespace

Outcome run_ferry(const std::vector<std::string>& words, const std::string& input,
                  const std::map<std::string, std::string>& environment, const std::string& folder) {
  return run_program(FERRY_BINARY_DIR "/bin/ferry", words, input, environment, folder);
}

std::string client_program() {
  // last_release_long_test names one of another version.
  const char* const named = getenv("FERRY_CLIENT_PROGRAM");
  const std::string program = named != nullptr ? named : FERRY_SOURCE_DIR "/build/client/bin/ferry";
  if (!std::filesystem::exists(program)) throw std::runtime_error(program + " is not there: run scripts/build.sh");
  return program;
}

Outcome run_client(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment) {
  return run_program(client_program(), words, "", environment, "");
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ferry_e2e.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& content) const {
  std::ofstream(path(name), std::ios::binary) << content;
  return path(name);
}

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace ferry::test
