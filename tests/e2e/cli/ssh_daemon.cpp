#include "tests/e2e/cli/ssh_daemon.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace ferry::test {

namespace {

namespace fs = std::filesystem;

constexpr const char* kDaemon = "/usr/sbin/sshd";

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

int free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("no free port");
  }
  close(listener);
  return ntohs(address.sin_port);
}

bool answers(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool connected = connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(client);
  return connected;
}

std::string user() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : "nobody";
}

}  // namespace

SshDaemon::SshDaemon() : port_(free_port()) {
  if (access(kDaemon, X_OK) != 0) throw std::runtime_error("there is no sshd: run scripts/setup.sh");
  // ferry would use a server that an aborted run left in one of the other folders instead of starting a new one.
  for (const char* folder : {"/var/tmp", "/tmp", "/dev/shm"}) {
    std::error_code error;
    fs::remove_all(std::string(folder) + "/ferry-" + std::to_string(geteuid()), error);
  }
  const std::string here = folder_.path("");
  for (const char* key : {"host", "other_host", "user"}) run("ssh-keygen -q -t ed25519 -N '' -f " + here + key);
  fs::copy_file(here + "user.pub", here + "authorized");
  const std::string port = std::to_string(port_);
  folder_.file("login", "#!/bin/sh\n. " + here + "on_login\nexport XDG_CACHE_HOME=${CACHE:-" + cache() +
                            "}\nexec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"\n");
  chmod((here + "login").c_str(), 0700);
  on_login("");
  folder_.file("sshd_config", "Port " + port + "\nListenAddress 127.0.0.1\nHostKey " + here + "host\n" +
                                  "AuthorizedKeysFile " + here + "authorized\nPidFile none\nUsePAM no\n" +
                                  "PasswordAuthentication no\nStrictModes no\nForceCommand " + here + "login\n");
  folder_.file("known", "[127.0.0.1]:" + port + " " + content_of(here + "host.pub"));
  folder_.file("ssh_config", "Host *\n  IdentityFile " + here + "user\n  IdentitiesOnly yes\n  UserKnownHostsFile " +
                                 here +
                                 "known\n  GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n  BatchMode yes\n");
  folder_.file("ssh", "#!/bin/sh\nexec ssh -F " + here + "ssh_config \"$@\"\n");
  chmod((here + "ssh").c_str(), 0700);
  // A service start would create this folder, which root's sshd requires; no service is started here.
  if (geteuid() == 0) made_run_folder_ = mkdir("/run/sshd", 0755) == 0;
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int log = open((here + "log").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(log, STDERR_FILENO);
    execl(kDaemon, kDaemon, "-D", "-e", "-f", (here + "sshd_config").c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  for (int tries = 0; !answers(port_); ++tries) {
    if (tries == 200) throw std::runtime_error("sshd does not answer: " + content_of(here + "log"));
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
}

SshDaemon::~SshDaemon() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  if (made_run_folder_) rmdir("/run/sshd");
}

std::string SshDaemon::address() const { return "ssh://" + user() + "@127.0.0.1:" + std::to_string(port_); }

std::map<std::string, std::string> SshDaemon::environment() const { return {{"FERRY_SSH", folder_.path("ssh")}}; }

void SshDaemon::on_login(const std::string& script) const { folder_.file("on_login", script + "\n"); }

void SshDaemon::forget_host_key() const {
  folder_.file("known", "[127.0.0.1]:" + std::to_string(port_) + " " + content_of(folder_.path("other_host.pub")));
}

std::vector<std::string> SshDaemon::cached() const {
  std::vector<std::string> names;
  if (!fs::exists(cache() + "/ferry")) return names;
  for (const auto& entry : fs::directory_iterator(cache() + "/ferry")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<pid_t> SshDaemon::running_servers() const {
  std::vector<pid_t> found;
  for (int tries = 0; tries < 200; ++tries) {
    found.clear();
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code error;
      const std::string program = fs::read_symlink(entry.path() / "exe", error);
      if (!error && program.rfind(cache(), 0) == 0) found.push_back(std::atoi(entry.path().filename().c_str()));
    }
    if (found.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  return found;
}

}  // namespace ferry::test
