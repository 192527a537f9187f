#include "host/session/ssh_server.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/throw_status.h"
#include "ferry/hash.h"
#include "host/session/local_server.h"
#include "host/session/ssh_script.h"

namespace ferry::session {

namespace {

struct OwnServer {
  BoardServer board;
  std::string bytes;
};

std::vector<OwnServer> own_servers() {
  std::vector<OwnServer> servers;
#define FERRY_DEVICE_ARCH(name, triple, pointer_bits, machine, other_machine) #name,
  for (const char* arch : {
#include "module/device_archs.def"
       }) {
#undef FERRY_DEVICE_ARCH
    const std::filesystem::path path = find_board_server(arch);
    if (path.empty()) continue;
    std::ifstream file(path, std::ios::binary);
    OwnServer server{{arch, "", 0}, {std::istreambuf_iterator<char>(file), {}}};
    server.board.bytes = server.bytes.size();
    server.board.hash =
        to_hex(blake2b({reinterpret_cast<const std::uint8_t*>(server.bytes.data()), server.bytes.size()}))
            .substr(0, 32);
    servers.push_back(std::move(server));
  }
  return servers;
}

std::string list_of(const std::vector<OwnServer>& servers) {
  std::string text;
  for (const OwnServer& server : servers) text += (text.empty() ? "" : ", ") + server.board.arch;
  return text;
}

// Splits an answer into its first word and the rest.
std::pair<std::string, std::string> split(const std::string& answer) {
  const std::size_t end = std::min(answer.find(' '), answer.size());
  return {answer.substr(0, end), answer.substr(std::min(end + 1, answer.size()))};
}

// Each attempt skips the folders that have turned out to be unsuitable.
std::string push(const SshAddress& address, const std::string& name, const OwnServer& server) {
  std::string tried;
  for (int skip = 0;;) {
    SshProcess ssh(address, name, push_script(server.board, skip));
    ssh.send(server.bytes);
    const auto [word, rest] = split(ssh.answer(kSshMarker));
    if (word == "pushed") return rest;
    if (word == "full" || word == "noexec") {
      const auto [number, folder] = split(rest);
      tried += (tried.empty() ? "" : ", ") + folder + (word == "full" ? " (no room)" : " (programs cannot run there)");
      const int passed = std::atoi(number.c_str());
      if (passed > skip) {
        skip = passed;
        continue;
      }
    }
    throw Error(
        ErrorCode::unavailable,
        name + ": there is no folder to put rpc_server into" +
            (tried.empty() ? "; the home, /var/tmp, /tmp and /dev/shm cannot be written to" : "; tried " + tried));
  }
}

}  // namespace

SshServer::SshServer(const SshAddress& address, const std::string& name,
                     const std::function<void(const std::string&)>& log) {
  const std::vector<OwnServer> servers = own_servers();
  if (servers.empty()) {
    throw Error(ErrorCode::not_found,
                "there is no static rpc_server to send to " + name +
                    ": they are expected in libexec/ferry/ARCH/static of the place that ferry is installed in");
  }
  std::vector<BoardServer> boards;
  for (const OwnServer& server : servers) boards.push_back(server.board);
  for (const bool again : {false, true}) {
    process_ = std::make_unique<SshProcess>(address, name, start_script(boards));
    const auto [word, rest] = split(process_->answer(kSshMarker));
    if (word == "ready") return;
    if (word == "unsupported") {
      throw Error(ErrorCode::unsupported,
                  name + " is '" + rest + "'; the servers here are for Linux on " + list_of(servers));
    }
    process_.reset();
    for (const OwnServer& server : servers) {
      if (word != "absent" || rest != server.board.arch || again) continue;
      const std::string folder = push(address, name, server);
      if (log) {
        std::ostringstream line;
        line << "put rpc_server for " << server.board.arch << " (" << (server.bytes.size() + 999) / 1000 << " kB) into "
             << folder << " of " << name;
        log(line.str());
      }
    }
  }
  throw Error(ErrorCode::unavailable, name + ": rpc_server was sent there and is not found again");
}

}  // namespace ferry::session
