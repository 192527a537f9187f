// Measures a farm on this machine: trackers are processes of `ferry farm serve`, boards are processes of rpc_server or
// simulated here, and all speak the real protocol over loopback. Prints a table in Markdown; with --json FILE also
// writes the figures.
//
//   ferry_farm_bench FERRY RPC_SERVER SLOW_FSYNC [--only NAME]... [--seconds N] [--json FILE]
//
// NAME is one of cycles, overhead, leases, query and crowd; N is how long each figure is measured.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "bench/farm/figures.h"

namespace {

using namespace ferry::bench;

constexpr struct {
  const char* name;
  void (*measure)(const Programs&, Report&);
} kFigures[] = {{"cycles", measure_cycles},
                {"overhead", measure_overhead},
                {"leases", measure_leases},
                {"query", measure_query},
                {"crowd", measure_crowd}};

int usage() {
  std::fprintf(stderr,
               "usage: ferry_farm_bench FERRY RPC_SERVER SLOW_FSYNC [--only cycles|overhead|leases|query|crowd]... "
               "[--seconds N] [--json FILE]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0) return usage();
  Programs programs{argv[1], argv[2], argv[3]};
  std::set<std::string> only;
  std::string json;
  for (int i = 4; i < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--only") {
      if (std::ranges::find(kFigures, value, [](const auto& one) { return std::string(one.name); }) ==
          std::end(kFigures))
        return usage();
      only.insert(value);
    } else if (option == "--seconds") {
      programs.duration = std::chrono::seconds(std::atoi(value.c_str()));
      if (programs.duration.count() < 1) return usage();
    } else if (option == "--json") {
      json = value;
    } else {
      return usage();
    }
  }
  Report report;
  std::printf("| what | result | goal | met |\n| --- | --- | --- | --- |\n");
  std::fflush(stdout);
  try {
    for (const auto& figure : kFigures)
      if (only.empty() || only.contains(figure.name)) figure.measure(programs, report);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ferry_farm_bench: %s\n", error.what());
    return 1;
  }
  if (!json.empty()) std::ofstream(json) << report.json().dump(2) << '\n';
  return 0;
}
