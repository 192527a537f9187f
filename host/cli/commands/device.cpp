#include <cstdio>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/device_survey.h"
#include "host/text/json.h"
#include "module/device_id.h"

namespace ferry::cli {

namespace {

text::Json to_json(const GpuFacts& gpu) {
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

text::Json to_json(const DeviceSurvey& survey, const Target& target) {
  const DeviceFacts& facts = survey.facts;
  text::Json caches = text::Json::array();
  for (const CacheFacts& cache : facts.caches) {
    caches.push_back(
        {{"level", cache.level}, {"kind", cache.kind}, {"bytes", cache.bytes}, {"line_bytes", cache.line_bytes}});
  }
  text::Json devices = text::Json::array();
  for (std::size_t i = 0; i < facts.devices.size(); ++i) {
    const ComputeDevice& one = facts.devices[i];
    devices.push_back({{"kind", one.kind}, {"name", one.name}, {"memory_bytes", one.memory_bytes}});
    if (survey.gpus[i]) devices.back()["gpu"] = to_json(*survey.gpus[i]);
  }
  return {
      {"schema", "ferry.device/1"},
      {"address", survey.name},
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
      {"counts_instructions", facts.counts_instructions},
      {"small_pages", facts.small_pages},
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

int show_device(const Compiler* compiler, const RemoteOptions& remote, bool json) {
  const DeviceSurvey survey = survey_device(opening(remote), terminal());
  const DeviceFacts& facts = survey.facts;
  const Target target = compiler != nullptr ? compiler->target_of(facts) : Target();
  if (json) {
    text::print_json(to_json(survey, target));
    return kExitFine;
  }
  line("device", survey.name);
  line("cpu", facts.cpu_name);
  line("arch", facts.arch);
  line("features", join(" ", facts.features));
  line("cores",
       std::to_string(facts.logical_cores) + ", of which a parallel loop uses " + std::to_string(facts.threads));
  line("caches", caches_text(facts));
  line("memory", bytes_text(facts.memory_bytes) + ", " + bytes_text(facts.memory_available_bytes) +
                     " of it available; a session may allocate " + bytes_text(facts.memory_limit_bytes));
  if (facts.small_pages)
    line("pages",
         "small: the system has no huge ones for memory that processes share, so that large tensors take longer");
  line("system", facts.operating_system);
  line("server", "rpc_server " + facts.server_version + " (" + facts.flavour + ")");
  for (std::size_t i = 0; i < facts.devices.size(); ++i) {
    const ComputeDevice& one = facts.devices[i];
    // The memory of devices without their own counts towards the session's limit.
    const std::string own =
        device_kind_named(one.kind) == DeviceKind::cuda ? ", with " + bytes_text(one.memory_bytes) + " of its own" : "";
    line("runs on", std::to_string(i) + ": " + one.kind + (one.name.empty() ? "" : ", " + one.name) + own);
    if (!survey.gpus[i]) continue;
    for (const std::string& more : lines_of(*survey.gpus[i])) line("", "   " + more);
  }
  if (facts.counts_instructions) line("emulator", "counts the instructions of calls");
  if (!facts.not_enforced.empty()) line("not enforced:", join("; ", facts.not_enforced));
  if (compiler != nullptr) line("target", target.text);
  return kExitFine;
}

}  // namespace

void add_device(CLI::App& app, Action& chosen, const session::Schemes& schemes) {
  struct Options {
    RemoteOptions remote;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("device", "Show what a device is, and the target that it is compiled for");
  add_remote_option(command, options->remote, schemes);
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry device                              this machine\n"
      "  ferry device --remote 192.168.1.17:9090\n"
      "  ferry device --json | jq .target.text");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler* compiler) { return show_device(compiler, options->remote, options->json); };
  });
}

}  // namespace ferry::cli
