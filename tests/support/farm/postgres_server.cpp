#include "tests/support/farm/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "farm/store/postgres_connection.h"
#include "tests/support/kept/kept_file.h"

namespace ferry::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

// PostgreSQL refuses to run as root.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  const passwd* user = getpwnam("postgres");
  if (user == nullptr) throw std::runtime_error("there is no user postgres: run scripts/setup.sh");
  return user;
}

std::string find_programs() {
  std::vector<std::string> folders;
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(version.path() / "bin/initdb")) folders.push_back(version.path() / "bin");
  if (folders.empty()) throw std::runtime_error("PostgreSQL is not installed: run scripts/setup.sh");
  return *std::max_element(folders.begin(), folders.end());
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

PostgresServer::PostgresServer(Sync sync, std::optional<Host> host)
    : sync_(sync), host_(std::move(host)), programs_(find_programs()) {
  if (const passwd* user = server_user();
      user != nullptr && chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
    throw std::runtime_error("cannot give the folder of PostgreSQL to its user");
  make_data();
  if (host_)
    std::ofstream(folder_.file("data/pg_hba.conf"), std::ios::app) << "host all all " << host_->subnet << " trust\n";
  start();
}

PostgresServer::~PostgresServer() { stop(); }

// initdb takes more than a second of processor time, so what it made is kept as an archive.
void PostgresServer::make_data() {
  const std::string data = folder_.file("data");
  const std::vector<std::string> options = {"-U",       "ferry", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                                            "--no-sync"};
  std::vector<std::string> inputs = {version_of(programs_ + "/initdb")};
  inputs.insert(inputs.end(), options.begin(), options.end());
  const std::string archive = kept_file(inputs, [&](const std::string& path) {
    std::vector<std::string> arguments = {"-D", data};
    arguments.insert(arguments.end(), options.begin(), options.end());
    run_program("initdb", start_program(programs_ + "/initdb", arguments));
    // This process writes and reads the archive: PostgreSQL's user may have no access to the build folder.
    if (std::system(("tar -C '" + folder_.path() + "' -cf '" + path + "' data").c_str()) != 0)
      throw std::runtime_error("cannot write " + path);
  });
  if (std::filesystem::exists(data)) return;
  const int input = open(archive.c_str(), O_RDONLY | O_CLOEXEC);
  const pid_t unpacking = start_program("/usr/bin/tar", {"-C", folder_.path(), "-x"}, input);
  close(input);
  run_program("tar", unpacking);
}

void PostgresServer::run_program(const std::string& name, pid_t process) const {
  int status = 0;
  waitpid(process, &status, 0);
  if (status != 0) throw std::runtime_error(name + " failed: " + contents_of(folder_.file(name + ".log")));
}

void PostgresServer::start() {
  server_ = start_program(
      programs_ + "/postgres",
      {"-D", folder_.file("data"), "-k", folder_.path(), "-c", "listen_addresses=" + (host_ ? host_->address : ""),
       "-c", "max_connections=20", "-c", "shared_buffers=16MB", "-c", sync_ == Sync::on ? "fsync=on" : "fsync=off"});
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!farm::PostgresConnection::open(uri("postgres")).is_ok()) {
    if (std::chrono::steady_clock::now() > deadline || waitpid(server_, nullptr, WNOHANG) != 0) {
      stop();
      throw std::runtime_error("PostgreSQL did not start: " + contents_of(folder_.file("postgres.log")));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void PostgresServer::stop() {
  if (server_ < 0) return;
  kill(server_, SIGQUIT);
  waitpid(server_, nullptr, 0);
  server_ = -1;
}

std::string PostgresServer::make_database(const std::string& options) {
  const std::string name = "farm" + std::to_string(++databases_);
  auto connection = farm::PostgresConnection::open(uri("postgres"));
  Status made = connection.status();
  if (made.is_ok()) made = connection.value()->execute("CREATE DATABASE " + name + " " + options, {}).status();
  if (!made.is_ok()) throw std::runtime_error("cannot make a database: " + made.message());
  return host_ ? "postgresql://ferry@" + host_->address + "/" + name : uri(name);
}

pid_t PostgresServer::start_program(const std::string& path, const std::vector<std::string>& arguments,
                                    int input) const {
  const std::string log = folder_.file(std::filesystem::path(path).filename().string() + ".log");
  const passwd* user = server_user();
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  if (host_ && setns(host_->network_namespace, CLONE_NEWNET) != 0) _exit(126);
  if (user != nullptr && (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (getppid() != parent) _exit(126);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (input >= 0) dup2(input, 0);
  dup2(output, 1);
  dup2(output, 2);
  if (chdir("/") != 0) _exit(126);
  execv(path.c_str(), argv.data());
  _exit(127);
}

std::string PostgresServer::uri(const std::string& database) const {
  std::string host;
  for (const char letter : folder_.path()) host += letter == '/' ? "%2F" : std::string(1, letter);
  return "postgresql://ferry@" + host + "/" + database;
}

}  // namespace ferry::test
