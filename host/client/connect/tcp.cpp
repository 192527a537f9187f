#include "host/client/connect/tcp.h"

#include <cstdlib>
#include <filesystem>

#include "base/throw_status.h"
#include "rpc/transport/tcp.h"

namespace ferry::session {

namespace {

// To a device that can also be reached by a detour.
constexpr std::chrono::seconds kDirectTimeout{2};

// Returns the key file that rpc_server made when this user first started it here.
std::string local_key_file() {
  const std::string folder = secure::default_key_folder();
  if (folder.empty()) return folder;
  const std::string file = folder + "/" + secure::kFirstKeyName;
  return std::filesystem::exists(file) ? file : std::string();
}

std::string key_file_of(const Remote& remote, const TcpAddress& tcp) {
  if (!remote.key_file.empty()) return remote.key_file;
  if (remote.entry && !remote.entry->key_file.empty()) return remote.entry->key_file;
  if (const char* named = getenv("FERRY_KEY_FILE"); named != nullptr && *named != 0) return named;
  for (const NamedDevice& device : remote.devices) {
    const auto address = parse_tcp_address(device.address, kDefaultPort);
    if (!device.key_file.empty() && address.is_ok() && to_text(address.value()) == to_text(tcp)) return device.key_file;
  }
  return is_loopback(tcp.host) ? local_key_file() : std::string();
}

[[noreturn]] void throw_no_key(const Remote& remote, const TcpAddress& tcp) {
  const std::string name = to_text(tcp);
  std::string message = "there is no key for " + name;
  const bool may_be_name = remote.text.find_first_of(".:[") == std::string::npos;
  if (may_be_name && !remote.devices.empty()) {
    message +=
        ", and no device '" + remote.text + "' in " + devices_file() + suggest_device(remote.text, remote.devices);
  }
  message +=
      ". rpc_server made one when it first started, and said how to copy it; name the copy with FERRY_KEY_FILE "
      "or in " +
      devices_file();
  message += is_loopback(tcp.host)
                 ? "; a server that was started with --insecure-plaintext is reached by plaintext://" + name
                 : "; with a login on that machine, ssh://" + tcp.host + " needs none";
  throw Error(ErrorCode::not_found, message);
}

}  // namespace

bool is_loopback(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

Link TcpConnector::open(const ConnectOptions&) {
  const TcpAddress& tcp = device_.address;
  const auto link = [&](std::unique_ptr<Transport> transport, bool is_relayed) {
    return Link{.transport = std::move(transport),
                .name = device_.name,
                .board = device_.board,
                .key = device_.key,
                .is_relayed = is_relayed,
                .lease = device_.lease};
  };
  const Detour& detour = device_.detour;
  if (!detour.open) return link(value_or_throw(connect_tcp(tcp.host, tcp.port)), false);
  Status unreachable(ErrorCode::unavailable, "it could not be reached before");
  if (!*detour.is_needed) {
    auto direct = connect_tcp(tcp.host, tcp.port, kDirectTimeout);
    if (direct.is_ok()) return link(std::move(direct.value()), false);
    unreachable = direct.status();
  }
  auto relayed = detour.open();
  *detour.is_needed = relayed.is_ok();
  if (relayed.is_ok()) return link(std::move(relayed.value()), true);
  throw Error(ErrorCode::unavailable,
              device_.name + ": " + unreachable.message() + "; nor can it be reached " + relayed.status().message());
}

Scheme tcp_scheme() {
  return {.prefix = "",
          .form = "HOST:PORT",
          .is_on_this_machine =
              [](const std::string& address) {
                const auto tcp = parse_tcp_address(address, kDefaultPort);
                return tcp.is_ok() && is_loopback(tcp.value().host);
              },
          .connector =
              [](const Remote& remote, const Connectors&) {
                const TcpAddress tcp = value_or_throw(parse_tcp_address(remote.address, kDefaultPort));
                const std::string file = key_file_of(remote, tcp);
                if (file.empty()) throw_no_key(remote, tcp);
                return std::make_shared<TcpConnector>(
                    TcpDevice{.address = tcp,
                              .name = to_text(tcp),
                              .key = ServerKey{value_or_throw(secure::read_key_file(file)), file}});
              }};
}

}  // namespace ferry::session
