// A project whose kernels 'ferry gate' checks on this machine.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

namespace ferry::test {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

// A kernel whose time is proportional to the number of rounds. The other constant changes the code, but not the time.
inline std::string spin(int rounds, const std::string& factor = "0.75f") {
  return "// ferry: spin(in f32[256] x, out f32[256] y)\n"
         "void spin(const float* x, float* y) {\n"
         "  for (int i = 0; i < 256; ++i) y[i] = x[i];\n"
         "  for (int r = 0; r < " +
         std::to_string(rounds) +
         "; ++r)\n"
         "    for (int i = 0; i < 256; ++i) y[i] = y[i] * 0.5f + x[i] * " +
         factor + ";\n}\n";
}

inline constexpr int kRounds = 4000;

// A project with kernels in C and in ferry's notation.
class Project {
 public:
  Project() {
    std::filesystem::create_directory(folder.path("kernels"));
    write("kernels/spin.c", spin(kRounds));
    write("kernels/twice.tc", kTwice);
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder.path(name), std::ios::binary) << content;
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Outcome gate(Words words) const {
    words.insert(words.begin(), "gate");
    return run_ferry(words, "", {}, folder.path(""));
  }

  // Runs the suite and returns the results by case.
  std::map<std::string, Json> results(Words words, int& code) const {
    words.insert(words.begin(), {"suite.toml", "--json"});
    const Outcome outcome = gate(words);
    INFO(outcome.err);
    code = outcome.code;
    std::map<std::string, Json> results;
    const Json report = Json::parse(outcome.out);
    for (const Json& one : report.at("cases")) results[one.at("name")] = one;
    return results;
  }

  // The name of a suite without one: that of its folder.
  std::string suite() const { return std::filesystem::path(folder.path("")).parent_path().filename().string(); }

  Folder folder;
};

// The kernels of these tests differ by half of their time or not at all, which a busy machine tells apart in the fewest
// pairs if nothing in between matters.
inline const char* const kSuite =
    "tolerance = \"20%\"\n"
    "error-level = \"40%\"\n"
    "samples = 5\n"
    "[cases.spin]\n"
    "kernel = \"kernels/spin.c\"\n"
    "rtol = 1e-2\n"
    "[cases.twice]\n"
    "kernel = \"kernels/twice.tc\"\n"
    "sizes = \"N=4096\"\n";

}  // namespace ferry::test
