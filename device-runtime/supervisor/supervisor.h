// The server's main process. Single-threaded and asynchronous: it accepts clients, reads their first request, and
// starts a process for each admitted one. It never runs kernels and never blocks on a client, so no session can stop
// it.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "device-runtime/device/drivers.h"
#include "device-runtime/sandbox/sandbox.h"
#include "device-runtime/supervisor/work_folder.h"
#include "farm/board/farm_options.h"
#include "ferry/device_facts.h"
#include "rpc/messages.h"
#include "rpc/server/key_ring.h"

namespace ferry::device {

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9090;
  std::uint16_t port_end = 9090;          // the last port to try
  int inherited_socket = -1;              // serve only this connected socket, and end with its session
  bool stdio = false;                     // serve one client over standard input and output
  const server::KeyRing* keys = nullptr;  // accepted keys; null: everyone may connect, without encryption
  bool quiet = false;                     // nothing on standard error unless something fails
  std::size_t max_sessions = 1;           // at a time; other clients wait
  std::size_t max_waiting = 64;
  rpc::TimeLimits limits;  // the maxima that a client can get
  std::uint64_t module_cache_bytes = std::uint64_t{256} << 20;
  std::uint64_t blob_cache_bytes = 0;  // 0: as much as the folder can take
  bool perf_map = false;               // list kernels in /tmp/perf-PROCESS.map, for perf
  SandboxOptions sandbox;              // settings from the command line
  OtherDevices other_devices;
  FarmOptions farm;  // with trackers, `keys` are not used: the farm says who may connect
};

// Serves until SIGINT or SIGTERM, then ends all sessions. Prints the listening address as the first line on standard
// output.
Status serve(const ServerOptions& options, const DeviceFacts& facts, const WorkFolder& folder);

}  // namespace ferry::device
