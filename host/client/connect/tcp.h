// Devices at an address of TCP, HOST or HOST:PORT, whose server must have the same key.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/client/connect/schemes.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::session {

inline constexpr std::uint16_t kDefaultPort = 9090;

// Another way to a device that cannot be reached directly; without `open` there is none. Copies share the flag.
struct Detour {
  // A failure's message begins with the way, "through the tracker: ...".
  std::function<Result<std::unique_ptr<Transport>>()> open;
  // Set once the device could not be reached directly, which then is not tried again.
  std::shared_ptr<std::atomic<bool>> is_needed = std::make_shared<std::atomic<bool>>(false);
};

// What a link over TCP is to be.
struct TcpDevice {
  TcpAddress address;
  std::string name;  // as those of Link
  std::string board = {};
  std::optional<ServerKey> key = {};
  std::shared_ptr<const Lease> lease = {};
  Detour detour = {};
};

class TcpConnector final : public Connector {
 public:
  explicit TcpConnector(TcpDevice device) : device_(std::move(device)) {}
  const TcpDevice& device() const { return device_; }
  Link open(const ConnectOptions& options) override;

 private:
  TcpDevice device_;
};

// The key comes from the option, otherwise from the device's entry in devices.toml, from FERRY_KEY_FILE, from the entry
// with the same address, or, for a loopback address, from the file that rpc_server made on this machine for the same
// user.
Scheme tcp_scheme();

bool is_loopback(std::string_view host);

}  // namespace ferry::session
