#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/output/json.h"
#include "host/cli/output/progress.h"

namespace ferry::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  RemoteOptions remote;
  std::uint32_t count = 1000;
  std::uint64_t bytes = 0;
  bool json = false;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Returns the seconds of each null call in ascending order.
std::vector<double> measure_calls(const Device& device, std::uint32_t count) {
  for (int warm = 0; warm < 10; ++warm) device.synchronize();
  std::vector<double> seconds;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto start = Clock::now();
    device.synchronize();
    seconds.push_back(seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

struct Bandwidth {
  std::uint64_t bytes = 0;
  double write_seconds = 0;
  double read_seconds = 0;
};

Bandwidth measure_transfer(const Device& device, std::uint64_t bytes) {
  std::vector<std::uint8_t> content(bytes, 1);
  DeviceTensor tensor = device.empty(DType::u8, {static_cast<std::int64_t>(bytes)});
  device.synchronize();
  auto start = Clock::now();
  tensor.write(content.data());
  device.synchronize();
  Bandwidth result{bytes, seconds_since(start), 0};
  start = Clock::now();
  tensor.read(content.data());
  result.read_seconds = seconds_since(start);
  return result;
}

// Transfers larger and larger pieces until one takes long enough to be measured; on a slow link a small one suffices.
Bandwidth measure_bandwidth(const Device& device, std::uint64_t bytes) {
  const Progress progress("measuring bandwidth");
  if (bytes != 0) return measure_transfer(device, bytes);
  constexpr double kLongEnough = 0.05;
  constexpr std::uint64_t kLargest = 64u << 20;
  for (bytes = 64 << 10;; bytes *= 4) {
    const Bandwidth result = measure_transfer(device, bytes);
    if (result.write_seconds + result.read_seconds > kLongEnough || bytes * 4 > kLargest) return result;
  }
}

int ping(const Options& options) {
  const Device device = open_device(options.remote);
  const std::vector<double> calls = measure_calls(device, options.count);
  const Bandwidth bandwidth = measure_bandwidth(device, options.bytes);
  const double median = calls[calls.size() / 2];
  const double worst = calls[calls.size() * 99 / 100];
  const double write = static_cast<double>(bandwidth.bytes) / bandwidth.write_seconds;
  const double read = static_cast<double>(bandwidth.bytes) / bandwidth.read_seconds;
  if (options.json) {
    print_json({{"schema", "ferry.ping/1"},
                {"address", device.name()},
                {"calls", calls.size()},
                {"median_seconds", median},
                {"minimum_seconds", calls.front()},
                {"percentile_99_seconds", worst},
                {"transfer_bytes", bandwidth.bytes},
                {"write_bytes_per_second", write},
                {"read_bytes_per_second", read}});
    return kExitFine;
  }
  printf("null call  %s median, %s minimum, %s 99th percentile, of %s\n", seconds_text(median).c_str(),
         seconds_text(calls.front()).c_str(), seconds_text(worst).c_str(), count_text(calls.size()).c_str());
  printf("write      %s (%s)\n", rate_text(write, "B/s").c_str(), bytes_text(bandwidth.bytes).c_str());
  printf("read       %s\n", rate_text(read, "B/s").c_str());
  return kExitFine;
}

}  // namespace

void add_ping(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("ping", "Measure the way to a device: null calls and bandwidth");
  add_remote_option(command, options->remote);
  command.add_option("--count", options->count, "Null calls to make")
      ->type_name("N")
      ->check(whole_number(1, 10'000'000))
      ->capture_default_str();
  command
      .add_option("--bytes", options->bytes,
                  "Bytes to send each way (default: as many as the link needs, up to 64 MiB)")
      ->type_name("N")
      ->check(whole_number(1, std::uint64_t{1} << 40));
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry ping --remote 192.168.1.17:9090\n"
      "  ferry ping --count 100000 --bytes 268435456");
  command.callback([options, &chosen] { chosen = [options] { return ping(*options); }; });
}

}  // namespace ferry::cli
