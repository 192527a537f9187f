#include <cstdio>
#include <string>

#include "crosscompile/compile.h"
#include "host/cli/command.h"
#include "host/cli/format.h"
#include "host/cli/json.h"
#include "host/cli/remote.h"
#include "rpc/messages.h"

namespace ferry::cli {

namespace {

Json to_json(const Device& device) {
  const DeviceFacts& facts = device.facts();
  const Target target = has_compiler() ? device.target() : Target();
  Json caches = Json::array();
  for (const CacheFacts& cache : facts.caches) {
    caches.push_back(
        {{"level", cache.level}, {"kind", cache.kind}, {"bytes", cache.bytes}, {"line_bytes", cache.line_bytes}});
  }
  Json devices = Json::array();
  for (const ComputeDevice& one : facts.devices) {
    devices.push_back({{"kind", one.kind}, {"name", one.name}, {"memory_bytes", one.memory_bytes}});
  }
  return {
      {"address", device.name()},
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

// A server that was started for this session alone looks for devices only when somebody wants one.
Device open_with_all_devices(const RemoteOptions& remote) {
  ConnectOptions options;
  options.devices = {rpc::kAnyDevice};
  try {
    return open_device(remote, options);
  } catch (const RemoteError& error) {
    // An older server takes it for the name of a device.
    if (error.code() != ErrorCode::unsupported) throw;
    return open_device(remote);
  }
}

int show_device(const RemoteOptions& remote, bool json) {
  const Device device = open_with_all_devices(remote);
  if (json) {
    print_json(to_json(device));
    return kExitFine;
  }
  const DeviceFacts& facts = device.facts();
  line("device", device.name());
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
    // What others have is counted in the session's limit.
    const std::string own = one.kind == "cuda" ? ", with " + bytes_text(one.memory_bytes) + " of its own" : "";
    line("runs on", std::to_string(i) + ": " + one.kind + (one.name.empty() ? "" : ", " + one.name) + own);
  }
  if (!facts.not_enforced.empty()) line("not enforced:", join("; ", facts.not_enforced));
  if (has_compiler()) line("target", device.target().text);
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
