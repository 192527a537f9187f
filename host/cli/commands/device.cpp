#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/compile.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/remote.h"
#include "host/cli/output/json.h"
#include "host/compiler/llvm/compile.h"
#include "host/session/gpu_facts.h"
#include "module/device_id.h"
#include "rpc/messages.h"

namespace ferry::cli {

namespace {

// Returns one entry for each of the server's devices, without a name if there are no details: for the CPU, or a device
// that does not open.
std::vector<GpuFacts> gpus_of(const RemoteOptions& remote, const DeviceFacts& facts) {
  std::vector<GpuFacts> gpus;
  std::map<DeviceKind, std::uint32_t> count;
  for (const ComputeDevice& one : facts.devices) {
    gpus.emplace_back();
    const std::optional<DeviceKind> kind = device_kind_named(one.kind);
    if (!kind || *kind == DeviceKind::cpu) continue;
    ConnectOptions options;
    options.devices = {to_text(DeviceId{*kind, count[*kind]++})};
    try {
      gpus.back() = gpu_facts(open_device(remote, options));
    } catch (const Error& error) {
      fprintf(stderr, "ferry: %s: %s\n", one.name.c_str(), printable_lines(error.what()).c_str());
    }
  }
  return gpus;
}

Json to_json(const GpuFacts& gpu) {
  return {{"architecture", gpu.architecture},
          {"driver", gpu.driver},
          {"block_threads", gpu.block_threads},
          {"block_registers", gpu.block_registers},
          {"block_shared_bytes", gpu.block_shared_bytes},
          {"warp_threads", gpu.warp_threads},
          {"multiprocessors", gpu.multiprocessors},
          {"multiprocessor_threads", gpu.multiprocessor_threads},
          {"multiprocessor_registers", gpu.multiprocessor_registers},
          {"multiprocessor_shared_bytes", gpu.multiprocessor_shared_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"clock_mhz", gpu.clock_mhz},
          {"memory_clock_mhz", gpu.memory_clock_mhz},
          {"memory_bus_bits", gpu.memory_bus_bits},
          {"memory_bytes_per_second", gpu.memory_bytes_per_second}};
}

// Returns two lines: limits of a block, and properties of the whole GPU. Unknown values are omitted.
std::vector<std::string> lines_of(const GpuFacts& gpu) {
  std::vector<std::string> block, whole;
  if (gpu.block_threads > 0) block.push_back(count_text(gpu.block_threads) + " threads");
  if (gpu.block_shared_bytes > 0) block.push_back(bytes_text(gpu.block_shared_bytes) + " of shared memory");
  if (gpu.block_registers > 0) block.push_back(count_text(gpu.block_registers) + " registers");
  if (gpu.warp_threads > 0) block.push_back("warps of " + std::to_string(gpu.warp_threads));
  if (gpu.multiprocessors > 0)
    whole.push_back(
        std::to_string(gpu.multiprocessors) + " multiprocessors" +
        (gpu.multiprocessor_threads == 0 ? "" : " of " + count_text(gpu.multiprocessor_threads) + " threads"));
  if (gpu.clock_mhz > 0) whole.push_back(count_text(gpu.clock_mhz) + " MHz");
  if (gpu.l2_bytes > 0) whole.push_back(bytes_text(gpu.l2_bytes) + " of L2");
  if (gpu.memory_bytes_per_second > 0)
    whole.push_back(count_text(static_cast<std::uint64_t>(gpu.memory_bytes_per_second / 1e9)) + " GB/s of memory");
  std::vector<std::string> lines;
  if (!block.empty()) lines.push_back("a block has at most " + join(", ", block));
  if (!whole.empty()) lines.push_back(join(", ", whole));
  return lines;
}

// The report of a session. The session has ended, since a server may serve only one at a time.
struct Told {
  std::string name;
  DeviceFacts facts;
  Target target;
};

Json to_json(const Told& device, const std::vector<GpuFacts>& gpus) {
  const DeviceFacts& facts = device.facts;
  const Target& target = device.target;
  Json caches = Json::array();
  for (const CacheFacts& cache : facts.caches) {
    caches.push_back(
        {{"level", cache.level}, {"kind", cache.kind}, {"bytes", cache.bytes}, {"line_bytes", cache.line_bytes}});
  }
  Json devices = Json::array();
  for (std::size_t i = 0; i < facts.devices.size(); ++i) {
    const ComputeDevice& one = facts.devices[i];
    devices.push_back({{"kind", one.kind}, {"name", one.name}, {"memory_bytes", one.memory_bytes}});
    if (!gpus[i].name.empty()) devices.back()["gpu"] = to_json(gpus[i]);
  }
  return {
      {"schema", "ferry.device/1"},
      {"address", device.name},
      {"server_version", facts.server_version},
      {"flavour", facts.flavour},
      {"arch", facts.arch},
      {"operating_system", facts.operating_system},
      {"cpu", facts.cpu_name},
      {"features", facts.features},
      {"logical_cores", facts.logical_cores},
      {"threads", facts.threads},
      {"memory_bytes", facts.memory_bytes},
      {"memory_available_bytes", facts.memory_available_bytes},
      {"memory_limit_bytes", facts.memory_limit_bytes},
      {"page_bytes", facts.page_bytes},
      {"caches", caches},
      {"devices", devices},
      {"not_enforced", facts.not_enforced},
      {"target",
       {{"text", target.text}, {"triple", target.triple}, {"cpu", target.cpu}, {"vector_bits", target.vector_bits}}}};
}

void line(const char* what, const std::string& value) {
  if (!value.empty()) printf("%-10s %s\n", what, value.c_str());
}

std::string caches_text(const DeviceFacts& facts) {
  std::string text;
  for (const CacheFacts& cache : facts.caches) {
    text += (text.empty() ? "" : ", ") + ("L" + std::to_string(cache.level)) + " " + cache.kind + " " +
            bytes_text(cache.bytes);
  }
  return text;
}

// A server that was started for this session alone enumerates devices only if one is requested.
Device open_with_all_devices(const RemoteOptions& remote) {
  ConnectOptions options;
  options.devices = {rpc::kAnyDevice};
  try {
    return open_device(remote, options);
  } catch (const Error& error) {
    // An older server takes it for the name of a device.
    if (error.code() != ErrorCode::unsupported) throw;
    return open_device(remote);
  }
}

Told told_by(const RemoteOptions& remote) {
  const Device device = open_with_all_devices(remote);
  return {device.name(), device.facts(), has_compiler() ? target_of(device) : Target()};
}

int show_device(const RemoteOptions& remote, bool json) {
  const Told device = told_by(remote);
  const DeviceFacts& facts = device.facts;
  const std::vector<GpuFacts> gpus = gpus_of(remote, facts);
  if (json) {
    print_json(to_json(device, gpus));
    return kExitFine;
  }
  line("device", device.name);
  line("cpu", facts.cpu_name);
  line("arch", facts.arch);
  line("features", join(" ", facts.features));
  line("cores",
       std::to_string(facts.logical_cores) + ", of which a parallel loop uses " + std::to_string(facts.threads));
  line("caches", caches_text(facts));
  line("memory", bytes_text(facts.memory_bytes) + ", " + bytes_text(facts.memory_available_bytes) +
                     " of it available; a session may allocate " + bytes_text(facts.memory_limit_bytes));
  line("system", facts.operating_system);
  line("server", "rpc_server " + facts.server_version + " (" + facts.flavour + ")");
  for (std::size_t i = 0; i < facts.devices.size(); ++i) {
    const ComputeDevice& one = facts.devices[i];
    // The memory of devices without their own counts towards the session's limit.
    const std::string own =
        device_kind_named(one.kind) == DeviceKind::cuda ? ", with " + bytes_text(one.memory_bytes) + " of its own" : "";
    line("runs on", std::to_string(i) + ": " + one.kind + (one.name.empty() ? "" : ", " + one.name) + own);
    for (const std::string& more : lines_of(gpus[i])) line("", "   " + more);
  }
  if (!facts.not_enforced.empty()) line("not enforced:", join("; ", facts.not_enforced));
  if (has_compiler()) line("target", device.target.text);
  return kExitFine;
}

}  // namespace

void add_device(CLI::App& app, Action& chosen) {
  struct Options {
    RemoteOptions remote;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("device", "Show what a device is, and the target that it is compiled for");
  add_remote_option(command, options->remote);
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry device                              this machine\n"
      "  ferry device --remote 192.168.1.17:9090\n"
      "  ferry device --json | jq .target.text");
  command.callback([options, &chosen] { chosen = [options] { return show_device(options->remote, options->json); }; });
}

}  // namespace ferry::cli
