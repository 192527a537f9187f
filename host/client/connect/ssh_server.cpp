#include "host/client/connect/ssh_server.h"

#include <sodium/crypto_hash_sha256.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <tuple>
#include <vector>

#include "base/throw_status.h"
#include "ferry/hash.h"
#include "host/client/connect/local_server.h"
#include "host/client/connect/ssh_script.h"

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
    OwnServer server{{arch}, {std::istreambuf_iterator<char>(file), {}}};
    server.board.bytes = server.bytes.size();
    const auto* contents = reinterpret_cast<const std::uint8_t*>(server.bytes.data());
    server.board.hash = to_hex(blake2b({contents, server.bytes.size()}));
    static_assert(crypto_hash_sha256_BYTES == sizeof(Hash));
    Hash sha256{};
    crypto_hash_sha256(sha256.data(), contents, server.bytes.size());
    server.board.sha256 = to_hex(sha256);
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
std::string push(const SshAddress& address, const std::string& name, const OwnServer& server,
                 const SshOptions& options) {
  std::string tried;
  for (int skip = 0;;) {
    SshProcess ssh(address, name, push_script(server.board, skip), options);
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

// Throws if the board could not be locked.
void expect_no_refusal(const std::string& word, const std::string& rest, const std::string& name) {
  if (word == "later") {
    throw Error(ErrorCode::unavailable, name + ": a later lease has this board (epoch " + rest + ")");
  }
  if (word == "busy") {
    throw Error(ErrorCode::busy, name + ": another session of this lease runs there, as process " + rest);
  }
  if (word == "stuck") {
    throw Error(ErrorCode::unavailable,
                name + ": a session of an earlier lease runs there, as process " + rest + ", and cannot be ended");
  }
  if (word == "unlockable") {
    throw Error(ErrorCode::unavailable, name + ": there is no folder for a lock file; the home, /var/tmp, /tmp and " +
                                            "/dev/shm cannot be written to, or /proc is missing");
  }
}

// For so long a lock file of a later lease may be one that an earlier session has forged and that the tracker has not
// had removed yet (farm/tracker/ssh_boards.h), which it does after each lease.
constexpr std::chrono::seconds kForgedAtMost{6};
constexpr std::chrono::seconds kPause{1};

// Clocks run at rates that may differ by 0.1%. The server counts in whole seconds.
std::chrono::seconds time_left(const Lease& lease) {
  const std::chrono::nanoseconds left = lease.remaining();
  return std::chrono::floor<std::chrono::seconds>(left - left / 1000);
}

// By it sessions of one lease know each other. The board learns it, and the key of the lease stays secret.
std::string lock_key_of(const secure::KeyBytes& psk) {
  constexpr std::string_view kContext = "ferry ssh lock key 1";
  std::vector<std::uint8_t> bytes(kContext.begin(), kContext.end());
  bytes.insert(bytes.end(), psk.begin(), psk.end());
  constexpr std::size_t kDigits = 32;
  return to_hex(blake2b(bytes)).substr(0, kDigits);
}

}  // namespace

SshServer::SshServer(const SshAddress& address, const std::string& name,
                     const std::function<void(const std::string&)>& log, const LeasedBoard* leased,
                     const SshOptions& options) {
  if (leased != nullptr && (leased->epoch == 0 || leased->epoch > kMaxSshEpoch)) {
    throw Error(ErrorCode::invalid_argument, name + ": expected a lease's epoch from 1 to " +
                                                 std::to_string(kMaxSshEpoch) + ", got " +
                                                 std::to_string(leased->epoch));
  }
  const std::vector<OwnServer> servers = own_servers();
  if (servers.empty()) {
    throw Error(ErrorCode::not_found,
                "there is no static rpc_server to send to " + name +
                    ": they are expected in libexec/ferry/ARCH/static of the place that ferry is installed in");
  }
  std::vector<BoardServer> boards;
  for (const OwnServer& server : servers) boards.push_back(server.board);
  const std::string lock_key = leased != nullptr ? lock_key_of(leased->psk) : "";
  const auto start = [&](bool again) {
    process_ = std::make_unique<SshProcess>(
        address, name, start_script(boards, leased != nullptr ? leased->epoch : 0, again, lock_key), options);
    return split(process_->answer(kSshMarker));
  };
  const auto give_up = std::chrono::steady_clock::now() + kForgedAtMost;
  for (const bool again : {false, true}) {
    auto [word, rest] = start(again);
    while (leased != nullptr && word == "later" && std::chrono::steady_clock::now() + kPause < give_up &&
           leased->lease->remaining() > kPause) {
      process_.reset();
      std::this_thread::sleep_for(kPause);
      std::tie(word, rest) = start(again);
    }
    if (leased == nullptr && word == "ready") return;
    if (leased != nullptr) expect_no_refusal(word, rest, name);
    if (leased != nullptr && word == "locked") {
      start_session(*leased->lease, name);
      return;
    }
    if (word == "unsupported") {
      throw Error(ErrorCode::unsupported,
                  name + " is '" + rest + "'; the servers here are for Linux on " + list_of(servers));
    }
    process_.reset();
    for (const OwnServer& server : servers) {
      if ((word != "absent" && word != "changed") || rest != server.board.arch || again) continue;
      if (word == "changed" && log) log("the rpc_server of " + name + " has been changed there: it is replaced");
      const std::string folder = push(address, name, server, options);
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

// How long the session may take is said only now, because logging in and locking may have taken long.
void SshServer::start_session(const Lease& lease, const std::string& name) {
  const std::chrono::seconds left = time_left(lease);
  if (left.count() < 1) {
    throw Error(ErrorCode::unavailable, name + ": the lease of this board is over");
  }
  process_->write(std::to_string(left.count()) + "\n");
  const std::string word = process_->answer(kSshMarker);
  if (word != "ready") throw Error(ErrorCode::protocol_error, name + ": expected ready, got '" + word + "'");
}

}  // namespace ferry::session
