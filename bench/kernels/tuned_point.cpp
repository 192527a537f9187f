#include "bench/kernels/tuned_point.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace ferry::bench {

TunedPoint tuned_point(const TuneRequest& request) {
  const std::filesystem::path errors = request.folder / "tune.err";
  const std::string command = std::string(FERRY_PROGRAM) + " tune " + request.program.string() + " --threads " +
                              std::to_string(request.threads) + " --budget " + request.budget + " --json --records " +
                              (request.folder / "records.jsonl").string() + " 2>" + errors.string();
  std::filesystem::remove(request.folder / "records.jsonl");
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot start " + command);
  std::string text;
  char piece[4096];
  while (const std::size_t count = fread(piece, 1, sizeof piece, output)) text.append(piece, count);
  if (pclose(output) != 0) {
    std::ostringstream why;
    why << std::ifstream(errors).rdbuf();
    throw std::runtime_error(command + " failed: " + why.str());
  }
  std::istringstream lines(text);
  std::string line;
  std::size_t trials = 0;
  nlohmann::json last;
  TunedPoint found;
  while (std::getline(lines, line)) {
    last = nlohmann::json::parse(line);
    if (last.at("schema") != "ferry.trial/1") continue;
    ++trials;
    found.trials_per_second = static_cast<double>(trials) / last.at("progress").at("elapsed_seconds").get<double>();
  }
  if (!last.at("is_faster").get<bool>()) return found;
  found.point = last.at("point");
  found.faster = last.value("ratio", 1.0);
  return found;
}

}  // namespace ferry::bench
