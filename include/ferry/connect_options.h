// What a program may say when it connects to a device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

namespace session {
class Connector;  // internal
}

// Position in the queue for a server whose places are all taken, or for a board of a farm.
struct QueuePlace {
  std::uint32_t position = 0;  // 1: next
  std::string holder;          // who has the device; empty in the queue of a farm
  double holder_seconds = 0;   // how long the holder has had it
  // How long it will probably take, if a farm can tell.
  std::optional<double> wait_seconds = {};
};

// A board of a farm for several connections: the first connect() with a copy leases it, later ones find it leased, and
// it is given back with the last copy and the last of these devices.
using SharedBoard = std::shared_ptr<session::Connector>;

// In seconds; 0: the server's own limit. The server may grant less. Waiting for a place counts only towards `queue`.
struct Deadlines {
  double call = 0;  // one call or measurement
  double session = 0;
  double idle = 0;   // no computation and no transfer
  double queue = 0;  // until there is a place, otherwise Error with busy
};

// Returns the source line, "mm.tc:3", of an address in a linked image with debug information, or an empty text.
using SourceLine = std::function<std::string(std::span<const std::uint8_t> image, std::uint64_t address)>;

struct ConnectOptions {
  // Receives output of kernels and log messages of the server; empty: they are dropped.
  std::function<void(const std::string& line)> log;
  // Called whenever the position in the queue changes.
  std::function<void(const QueuePlace& place)> queued;
  Deadlines deadlines;
  // Devices besides the CPU that will be used: "opencl", or "opencl:1" for the second of its kind. Tensors are
  // allocated on the first of them.
  std::vector<std::string> devices;
  bool wait_for_debugger = false;  // before the first call
  // ferry::source_line, where there is a compiler: a kernel that crashes is then reported with its line.
  SourceLine source_line = {};
  // Surrounds each CPU tensor with inaccessible pages, so that a kernel that accesses memory out of bounds fails.
  bool guard_tensors = false;
  // The key to use; empty: that of FERRY_KEY_FILE, of devices.toml, or on this machine rpc_server's own.
  std::string key_file;
  // The board to connect to, in place of one that is leased for this device alone. From share_boards() for this
  // address.
  SharedBoard board = {};
  // Called several times a second while a board of a farm is waited for; true gives up, with aborted.
  std::function<bool()> is_cancelled = {};
  // Receives what is to be known of a farm's board, such as that its lease will end soon. Called on another thread,
  // also after connect() has returned, until the board is given back.
  std::function<void(const std::string& line)> lease_notice = {};
};

}  // namespace ferry
