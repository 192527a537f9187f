#include "tests/boards/guest.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "rpc/secure/client_handshake.h"
#include "rpc/transport/tcp.h"
#include "tests/boards/initramfs.h"
#include "tests/paths.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

struct Board {
  const char* arch;
  const char* emulator;
  std::vector<const char*> machine;
  const char* console;
  const char* compiler;
};

const Board kBoards[] = {
    {"aarch64", "qemu-system-aarch64", {"-M", "virt", "-cpu", "cortex-a72"}, "ttyAMA0", "aarch64-linux-gnu-gcc"},
    {"armv7", "qemu-system-arm", {"-M", "virt", "-cpu", "cortex-a15"}, "ttyAMA0", "arm-linux-gnueabihf-gcc"},
    {"riscv64", "qemu-system-riscv64", {"-M", "virt", "-cpu", "rv64"}, "ttyS0", "riscv64-linux-gnu-gcc"},
};

const Board& board_of(const std::string& arch) {
  for (const Board& board : kBoards) {
    if (board.arch == arch) return board;
  }
  FAIL("expected an architecture with a board, got " << arch);
  return kBoards[0];
}

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path kernel_folder(const std::string& arch) { return fs::path(FERRY_SOURCE_DIR) / "build/boards" / arch; }
fs::path server_program(const std::string& arch) {
  return fs::path(FERRY_SOURCE_DIR) / "build/device" / arch / "static/rpc_server";
}

// Returns a port that is free now. If another process takes it before the emulator does, the emulator exits and reports
// it.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

void write_initramfs(const Board& board, const secure::Key& key, const fs::path& folder) {
  const fs::path init = folder / "init", log = folder / "log";
  const std::string command = std::string(board.compiler) +
                              " -Os -Wall -Werror -static " FERRY_SOURCE_DIR "/tests/boards/init.c -o " +
                              init.string() + " 2>" + log.string();
  const int status = std::system(command.c_str());
  INFO(command << "\n" << slurp(log));
  REQUIRE(status == 0);
  const std::string server = slurp(server_program(board.arch)), key_text = secure::to_file_text(key);
  Initramfs files;
  files.add_folder("dev");
  files.add_character_device("dev/console", 5, 1);
  files.add_file("init", slurp(init), 0755);
  files.add_file("rpc_server", server, 0755);
  files.add_file("key", key_text, 0600);
  files.add_file("key.user", key_text, 0600, 1000);
  files.add_folder("modules");
  for (const auto& module : fs::directory_iterator(kernel_folder(board.arch) / "modules")) {
    files.add_file("modules/" + module.path().filename().string(), slurp(module.path()), 0644);
  }
  for (const char* inside : {"usual", "usual/proc", "usual/dev", "usual/tmp", "usual/etc"}) files.add_folder(inside);
  files.add_file("usual/rpc_server", server, 0755);
  files.add_file("usual/key", key_text, 0600);
  files.add_file("usual/etc/passwd", "root:x:0:0:::\nnobody:x:65534:65534:::\n", 0644);
  std::ofstream(folder / "initramfs", std::ios::binary) << files.archive();
}

}  // namespace

std::string name_of(Setting setting) {
  switch (setting) {
    case Setting::bare: return "in a bare root";
    case Setting::usual: return "with --user nobody";
    case Setting::modest: return "as a user who can write nowhere";
  }
  return "";
}

bool Guest::is_possible(const std::string& arch) {
  if (!fs::exists(kernel_folder(arch) / "kernel")) {
    MESSAGE("skipped: no kernel for " << arch << "; scripts/board_kernels.sh " << arch << " fetches one");
    return false;
  }
  const std::string probe = std::string(board_of(arch).emulator) + " --version >/dev/null";
  REQUIRE_MESSAGE(std::system(probe.c_str()) == 0, "expected scripts/setup.sh to have installed the emulator");
  REQUIRE_MESSAGE(fs::exists(server_program(arch)), "expected scripts/build.sh --device to have built it");
  return true;
}

Guest::Guest(const std::string& arch) : key_(secure::make_key()) {
  const Board& board = board_of(arch);
  char pattern[] = "/tmp/ferry-guest-XXXXXX";
  REQUIRE(mkdtemp(pattern) != nullptr);
  folder_ = pattern;
  key_file_ = folder_ + "/key";
  REQUIRE(secure::write_key_file(key_file_, key_).is_ok());
  write_initramfs(board, key_, folder_);
  // restrict=on isolates the guest from this machine and its network.
  std::string network = "user,id=net,restrict=on";
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    ports_[i] = free_port();
    network += ",hostfwd=tcp:127.0.0.1:" + std::to_string(ports_[i]) + "-:" + std::to_string(9090 + i);
  }
  std::vector<std::string> words{board.emulator};
  words.insert(words.end(), board.machine.begin(), board.machine.end());
  for (const std::string& word : {std::string("-smp"),
                                  std::string("2"),
                                  std::string("-m"),
                                  std::string("512"),
                                  std::string("-display"),
                                  std::string("none"),
                                  std::string("-monitor"),
                                  std::string("none"),
                                  std::string("-serial"),
                                  "file:" + folder_ + "/console",
                                  std::string("-no-reboot"),
                                  std::string("-kernel"),
                                  (kernel_folder(arch) / "kernel").string(),
                                  std::string("-initrd"),
                                  folder_ + "/initramfs",
                                  std::string("-append"),
                                  std::string("console=") + board.console + " quiet panic=-1",
                                  std::string("-netdev"),
                                  network,
                                  std::string("-device"),
                                  std::string("virtio-net-device,netdev=net")}) {
    words.push_back(word);
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string errors = folder_ + "/errors";
  process_ = fork();
  REQUIRE(process_ >= 0);
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR), file = open(errors.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  const auto listening = [&] {
    const std::string said = console();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = said.find("rpc_server listening on", at)) != std::string::npos; ++at) ++count;
    return count == ports_.size();
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!listening() && waitpid(process_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  INFO(slurp(errors) << console());
  REQUIRE(listening());
}

Guest::~Guest() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  fs::remove_all(folder_);
}

std::unique_ptr<Transport> Guest::connect(Setting setting) const {
  auto transport = connect_tcp("127.0.0.1", port(setting));
  REQUIRE_MESSAGE(transport.is_ok(), transport.status().message());
  auto encrypted = secure::encrypt_connection(std::move(transport.value()), key_, std::chrono::seconds(10));
  REQUIRE_MESSAGE(encrypted.is_ok(), encrypted.status().message());
  encrypted.value()->set_receive_timeout(std::chrono::seconds(120));
  return std::move(encrypted.value());
}

std::string Guest::console() const { return slurp(folder_ + "/console"); }

}  // namespace ferry::test
