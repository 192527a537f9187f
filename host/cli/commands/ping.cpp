#include <cstdio>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "ferry/bench/connection.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/terminal.h"
#include "host/stats/summary.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

struct Options {
  RemoteOptions remote;
  std::uint32_t count = 1000;
  std::uint64_t bytes = 0;
  bool json = false;
};

int ping(const Options& options) {
  const Device device = open_device(options.remote);
  const std::vector<double> calls = bench::measure_null_calls(device, options.count);
  const bench::Bandwidth bandwidth = bench::measure_bandwidth(device, options.bytes, terminal());
  const double median = stats::quantile_of_sorted(calls, 0.5);
  const double worst = stats::quantile_of_sorted(calls, 0.99);
  const double write = bandwidth.written_per_second(), read = bandwidth.read_per_second();
  if (options.json) {
    text::print_json({{"schema", "ferry.ping/1"},
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

void add_ping(CLI::App& app, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("ping", "Measure the way to a device: null calls and bandwidth");
  add_remote_option(command, options->remote, schemes);
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
  command.callback([options, &chosen] { chosen = [options](const Compiler*) { return ping(*options); }; });
}

}  // namespace ferry::cli
