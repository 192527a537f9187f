#include "host/client/destination.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/throw_status.h"
#include "host/client/devices_file.h"
#include "host/client/lease_file.h"

namespace ferry::session {

namespace {

constexpr std::uint16_t kDefaultPort = 9090;
constexpr std::string_view kSsh = "ssh://";
constexpr std::string_view kPlaintext = "plaintext://";

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || starts_with(host, "127."); }

// These become arguments of ssh, which takes a word that begins with a dash for an option.
void check_ssh_part(const char* what, const std::string& part, std::string_view extra, std::string_view all) {
  const bool fine = !part.empty() && part.front() != '-' && std::all_of(part.begin(), part.end(), [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || extra.find(letter) != std::string_view::npos;
  });
  if (!fine) refuse("expected " + std::string(what) + " in ssh://[USER@]HOST[:PORT], got '" + std::string(all) + "'");
}

secure::Key key_in(const std::string& file) { return take(secure::read_key_file(file)); }

// Returns the key file that rpc_server made when this user first started it here.
std::string local_key_file() {
  const std::string folder = secure::default_key_folder();
  if (folder.empty()) return folder;
  const std::string file = folder + "/" + secure::kFirstKeyName;
  return std::filesystem::exists(file) ? file : std::string();
}

std::string key_file_of(const Destination& destination, const std::vector<NamedDevice>& devices) {
  if (const char* named = getenv("FERRY_KEY_FILE"); named != nullptr && *named != 0) return named;
  for (const NamedDevice& device : devices) {
    const auto address = parse_tcp_address(device.address, kDefaultPort);
    if (!device.key_file.empty() && address.is_ok() && to_text(address.value()) == destination.name) {
      return device.key_file;
    }
  }
  return is_loopback(destination.tcp.host) ? local_key_file() : std::string();
}

[[noreturn]] void no_key(const Destination& destination, std::string_view remote,
                         const std::vector<NamedDevice>& devices) {
  std::string message = "there is no key for " + destination.name;
  const bool may_be_name = remote.find_first_of(".:[") == std::string_view::npos;
  if (may_be_name && !devices.empty()) {
    message += ", and no device '" + std::string(remote) + "' in " + devices_file() + suggest_device(remote, devices);
  }
  const char* const way = is_loopback(destination.tcp.host)
                              ? "; a server that was started with --insecure-plaintext is reached by plaintext://"
                              : "; with a login on that machine, ssh://";
  throw Error(ErrorCode::not_found, message +
                                        ". rpc_server made one when it first started, and said how to copy "
                                        "it; name the copy with FERRY_KEY_FILE or in " +
                                        devices_file() + way +
                                        (is_loopback(destination.tcp.host) ? destination.name : destination.tcp.host) +
                                        (is_loopback(destination.tcp.host) ? "" : " needs none"));
}

// Nothing if it is not known how the farm is reached.
std::optional<farm::RelayWay> relay_of(const LeaseFile& lease, std::size_t board) {
  try {
    return farm::RelayWay{find_farm(lease.farm, ""), lease.lease, static_cast<std::uint32_t>(board)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

// "lease:FILE" or "lease:FILE#N".
Destination leased_destination(const std::string& remote) {
  std::string path = remote.substr(kLeaseScheme.size());
  std::size_t number = 1;
  if (const std::size_t mark = path.rfind('#'); mark != std::string::npos) {
    const char* const end = path.data() + path.size();
    const auto [last, error] = std::from_chars(path.data() + mark + 1, end, number);
    if (error != std::errc() || last != end) refuse("expected lease:FILE or lease:FILE#N, got '" + remote + "'");
    path.resize(mark);
  }
  const LeaseFile lease = read_lease_file(path);
  if (number < 1 || number > lease.boards.size()) {
    refuse("expected one of the " + std::to_string(lease.boards.size()) + " boards of the lease in " + path +
           ", got #" + std::to_string(number));
  }
  Destination to = board_destination(lease.boards[number - 1], lease.remaining, remote);
  to.board_name = lease.farm + "/" + lease.boards[number - 1].board;
  to.relay = relay_of(lease, number - 1);
  return to;
}

Destination farm_destination(const std::string& address, std::string key_file, const NamedDevice* entry) {
  Destination destination;
  destination.transport = TransportKind::farm;
  destination.farm_address = parse_farm_address(address);
  if (key_file.empty() && entry != nullptr) key_file = entry->key_file;
  destination.farm = find_farm(destination.farm_address.farm, key_file);
  destination.name = address.substr(0, address.find('?'));
  return destination;
}

}  // namespace

SshAddress parse_ssh_address(std::string_view text) {
  if (!starts_with(text, kSsh)) refuse("expected ssh://[USER@]HOST[:PORT], got '" + std::string(text) + "'");
  SshAddress address;
  std::string_view rest = text.substr(kSsh.size());
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    address.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    check_ssh_part("a user", address.user, "._-+@", text);
  }
  if (rest.empty()) refuse("expected a host in ssh://[USER@]HOST[:PORT], got '" + std::string(text) + "'");
  // A port is recognised by its colon; the default 1 means none, and a port that the user wrote is passed to ssh.
  const bool has_port =
      !rest.empty() && rest.find(':', rest.front() == '[' ? rest.find(']') : 0) != std::string_view::npos;
  const TcpAddress host = take(parse_tcp_address(rest, 1));
  address.host = host.host;
  if (has_port) address.port = host.port;
  check_ssh_part("a host", address.host, "._-:%", text);
  return address;
}

std::optional<std::string> farm_of(std::string_view remote) {
  if (starts_with(remote, kFarmScheme)) return parse_farm_address(remote).farm;
  if (remote.empty() || remote.find("://") != std::string_view::npos) return std::nullopt;
  for (const NamedDevice& device : read_devices(devices_file())) {
    if (device.name == remote && starts_with(device.address, kFarmScheme))
      return parse_farm_address(device.address).farm;
  }
  return std::nullopt;
}

bool is_on_this_machine(std::string_view remote) {
  if (remote.empty()) return true;
  const std::vector<NamedDevice> devices = read_devices(devices_file());
  const auto named = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == remote; });
  std::string_view address = named != devices.end() ? std::string_view(named->address) : remote;
  if (starts_with(address, kSsh)) return is_loopback(parse_ssh_address(address).host);
  if (starts_with(address, kPlaintext)) address.remove_prefix(kPlaintext.size());
  const auto tcp = parse_tcp_address(address, kDefaultPort);
  return tcp.is_ok() && is_loopback(tcp.value().host);
}

bool is_of_farm(std::string_view remote) { return starts_with(remote, kFarmScheme) || farm_of(remote).has_value(); }

namespace {

// The board learns it, and the key of the lease stays secret.
std::string lock_key_of(const secure::KeyBytes& psk) {
  constexpr std::string_view kContext = "ferry ssh lock key 1";
  std::vector<std::uint8_t> bytes(kContext.begin(), kContext.end());
  bytes.insert(bytes.end(), psk.begin(), psk.end());
  constexpr std::size_t kDigits = 32;
  return to_hex(blake2b(bytes)).substr(0, kDigits);
}

}  // namespace

Destination board_destination(const farm::wire::GrantedSlot& board, std::chrono::milliseconds remaining,
                              const std::string& remote) {
  Destination destination;
  destination.name = board.board + " (" + remote + ")";
  destination.is_leased = true;
  if (starts_with(board.address, kSsh)) {
    destination.transport = TransportKind::ssh;
    destination.ssh = parse_ssh_address(board.address);
    destination.claim = BoardClaim{board.epoch, std::chrono::steady_clock::now() + remaining, lock_key_of(board.psk)};
    return destination;
  }
  destination.tcp = take(parse_tcp_address(board.address, kDefaultPort));
  destination.key = secure::Key{board.psk};
  return destination;
}

Destination find_destination(std::string_view remote, const std::string& key_file) {
  const std::vector<NamedDevice> devices = read_devices(devices_file());
  const auto named = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == remote; });
  const std::string address = named != devices.end() ? named->address : std::string(remote);
  if (named != devices.end() && !named->farm.empty()) {
    refuse(named->name + " is a farm: expected a selector of boards, as in farm://" + named->name + "/SELECTOR");
  }
  if (starts_with(address, kFarmScheme)) {
    return farm_destination(address, key_file, named != devices.end() ? &*named : nullptr);
  }
  if (starts_with(address, kLeaseScheme)) return leased_destination(address);
  Destination destination;
  if (starts_with(address, kSsh)) {
    destination.transport = TransportKind::ssh;
    destination.ssh = parse_ssh_address(address);
    destination.name = address;
    return destination;
  }
  const bool plaintext = starts_with(address, kPlaintext);
  if (!plaintext && address.find("://") != std::string::npos) {
    refuse("expected HOST:PORT, ssh://HOST, farm://FARM/SELECTOR or plaintext://HOST:PORT, got '" + address + "'");
  }
  const std::string_view host = std::string_view(address).substr(plaintext ? kPlaintext.size() : 0);
  destination.tcp = take(parse_tcp_address(host, kDefaultPort));
  destination.name = to_text(destination.tcp);
  if (plaintext) {
    if (!is_loopback(destination.tcp.host)) {
      refuse("plaintext:// is for loopback addresses; " + destination.tcp.host +
             " is none, and others could read and change what goes there");
    }
    destination.transport = TransportKind::plaintext;
    return destination;
  }
  destination.key_file = !key_file.empty()                                    ? key_file
                         : named != devices.end() && !named->key_file.empty() ? named->key_file
                                                                              : key_file_of(destination, devices);
  if (destination.key_file.empty()) no_key(destination, remote, devices);
  destination.key = key_in(destination.key_file);
  return destination;
}

}  // namespace ferry::session
