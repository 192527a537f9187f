// Compares the speed of ferry's kernels with that of other libraries. Each case is compiled here and timed against each
// peer in separate processes (duel.cpp). Prints a table in Markdown; with --json FILE also writes all figures.
//
//   ferry_kernel_bench [--only TEXT] [--rounds N] [--processes N] [--tune BUDGET] [--json FILE]
//
// TEXT: a part of the case's name. With --tune 60s, say, only cases with the default schedule and a program in a file
// are run; `ferry tune` searches for their schedules first.

#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "bench/kernels/cases.h"
#include "bench/kernels/request.h"
#include "bench/kernels/tuned_point.h"
#include "bench/support/comparison.h"
#include "crosscompile/compile.h"
#include "ferry/compile.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/ops/winograd.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"

namespace {

using namespace ferry;
using bench::Case;
namespace fs = std::filesystem;

struct Options {
  std::string only, json;
  std::string budget;  // time for `ferry tune` to search in each case; empty: none is tuned
  int rounds = 15;
  int processes = 5;  // the rounds are divided among them
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the program with the names of sizes replaced by numbers.
std::string with_sizes(const std::string& program, const std::map<std::string, std::int64_t>& sizes) {
  std::string result;
  for (std::size_t i = 0; i < program.size();) {
    std::size_t end = i;
    while (end < program.size() &&
           (std::isalnum(static_cast<unsigned char>(program[end])) != 0 || program[end] == '_')) {
      ++end;
    }
    const std::string word = program.substr(i, std::max<std::size_t>(end - i, 1));
    const auto size = sizes.find(word);
    result += size == sizes.end() ? word : std::to_string(size->second);
    i += word.size();
  }
  return result;
}

struct Compiled {
  std::vector<std::uint8_t> module;
  double seconds = 0;  // from lowering to linked code
  bench::TunedPoint tuned = {};
};

// A convolution of 3x3 with constant filters, of images in blocks of 16 channels.
lang::Program winograd_program(const bench::Operation& o) {
  const lang::Tensor x = lang::placeholder({1, o.channels / 16, o.size, o.size, 16}, DType::f32, "X");
  const lang::Tensor k = lang::placeholder({o.filters, o.channels, 3, 3}, DType::f32, "K");
  const ops::Window window = {1, 1};
  const lang::Tensor y = ops::winograd_conv2d_blocked(x, k, {window, window}, o.winograd_tile, "Y");
  return lang::make_program("conv", {lang::in(x), lang::constant(k), lang::out(y)});
}

bool can_be_tuned(const Case& c) { return c.schedule.empty() && !c.program.empty(); }

// Returns nothing if the case's schedule does not exist.
std::optional<Compiled> compile_case(const Case& c, const Options& options, const fs::path& scratch) {
  const fs::path folder = FERRY_KERNELS_FOLDER;
  const std::string source = c.program.empty() ? "" : with_sizes(read_text(folder / "programs" / c.program), c.sizes);
  const fs::path schedule = folder / "schedules" / c.schedule;
  if (!c.schedule.empty() && !fs::exists(schedule)) return std::nullopt;
  const Target host = target("host");
  const std::vector<lang::Program> programs =
      c.program.empty() ? std::vector{winograd_program(c.operation)} : lang::parse(source, c.program);
  Compiled compiled;
  if (!options.budget.empty()) {
    const fs::path program = scratch / c.program;
    std::ofstream(program) << source;
    compiled.tuned = bench::tuned_point({program, c.threads, options.budget, scratch});
  }
  const auto compile_once = [&] {
    const schedule::Schedule how = c.schedule.empty()
                                       ? autoschedule::schedule_at(programs.at(0), host, {}, {compiled.tuned.point})
                                       : schedule::Schedule::replay(programs.at(0), read_text(schedule));
    compiled.module =
        compile_module(lower::lower_module(std::span(&programs.at(0), 1), std::span(&how, 1)), host, {source, ""})
            .bytes;
  };
  compile_once();
  compiled.seconds = bench::seconds_of(compile_once);
  return compiled;
}

// Returns the answer of one process; {"error": ...} if it gave none.
nlohmann::json run_duel(const bench::Request& request, const fs::path& folder) {
  const fs::path path = folder / "request.json";
  std::ofstream(path) << nlohmann::json(request).dump();
  FILE* output =
      popen((std::string(FERRY_DUEL) + " " + path.string() + " 2>" + (folder / "stderr").string()).c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot start " FERRY_DUEL);
  std::string text;
  char piece[4096];
  while (const std::size_t count = fread(piece, 1, sizeof piece, output)) text.append(piece, count);
  const int status = pclose(output);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const nlohmann::json answer = nlohmann::json::parse(
      text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1), nullptr, false);
  if (answer.is_discarded()) {
    return {{"error", "ended with status " + std::to_string(status) + ": " + read_text(folder / "stderr")}};
  }
  return answer;
}

// Combines the rounds of several processes, since the placement of a process in memory can make a kernel half as fast.
nlohmann::json compare(bench::Request request, const Options& options, const fs::path& folder) {
  bench::Comparison all;
  nlohmann::json answer;
  for (int left = options.processes; left > 0; --left) {
    request.rounds = (options.rounds - static_cast<int>(all.ours.size()) + left - 1) / left;
    nlohmann::json one = run_duel(request, folder);
    if (one.contains("absent") || one.contains("error")) return one;
    for (std::size_t round = 0; round < one["ours"].size(); ++round) {
      all.ours.push_back(one["ours"][round]);
      all.theirs.push_back(one["theirs"][round]);
      all.ratios.push_back(all.ours.back() / all.theirs.back());
    }
    // All processes have the same inputs, so a wrong result is wrong in all of them, unless it is caused by a race.
    const bool is_worse = answer.is_null() || !one["deviation"]["good"].get<bool>();
    if (is_worse) answer = std::move(one);
  }
  answer["ours"] = all.ours;
  answer["theirs"] = all.theirs;
  answer["ours_s"] = bench::median(all.ours);
  answer["theirs_s"] = bench::median(all.theirs);
  answer["speed"] = 1 / all.ratio();
  answer["speed_low"] = 1 / all.highest();
  answer["speed_high"] = 1 / all.lowest();
  return answer;
}

std::string format(const char* pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

std::string rate_text(const Case& c, double seconds) {
  std::string text = format(seconds < 1e-3 ? "%.1f us" : "%.0f us", seconds * 1e6);
  if (c.flops > 0) text += format(", %.1f GFLOP/s", c.flops / seconds / 1e9);
  if (c.bytes > 0) text += format(", %.1f GB/s", c.bytes / seconds / 1e9);
  return text;
}

// One row of the table, also available as JSON.
class Row {
 public:
  Row(const Case& c, const Compiled& compiled, bool is_tuned)
      : case_(c), compile_ms_(compiled.seconds * 1e3), tuned_(compiled.tuned), is_tuned_(is_tuned) {}

  void add(const std::string& key, const nlohmann::json& answer) {
    json_[key] = answer;
    if (answer.contains("absent")) return;
    if (answer.contains("error")) {
      peers_ += (peers_.empty() ? "" : "; ") + key + ": failed";
      std::cerr << case_.name << ", " << key << ": " << answer["error"].get<std::string>() << "\n";
      return;
    }
    const double speed = answer["speed"];
    std::string peer = answer["peer"];
    if (const std::string set = answer["instructions"]; !set.empty()) peer += " [" + set + "]";
    peers_ += (peers_.empty() ? "" : "; ") + peer + " " + rate_text(case_, answer["theirs_s"]) +
              format(": %.2f", speed) + format(" (%.2f-", answer["speed_low"]) + format("%.2f)", answer["speed_high"]);
    if (seconds_ == 0 || speed < worst_) {
      worst_ = speed;
      seconds_ = answer["ours_s"];
    }
    check("ferry", answer["deviation"]);
    if (answer.contains("peer_deviation")) check(answer["peer"], answer["peer_deviation"]);
  }

  std::string text() const {
    const bool met = is_right_ && seconds_ > 0 && worst_ >= case_.goal;
    return "| " + case_.name + " | " + schedule() + " | " + (seconds_ > 0 ? rate_text(case_, seconds_) : "-") + " | " +
           peers_ + " | " + (seconds_ > 0 ? format("%.2f", worst_) : "-") + " | " + format("%.2f", case_.goal) + " | " +
           (met ? "yes" : "**no**") + " | " + format("%.0f", compile_ms_) + " | " +
           (is_right_ ? format("%.1e", largest_) : "**WRONG**: " + wrong_) + " |";
  }

  nlohmann::json json() const {
    return {{"case", case_.name},
            {"schedule", case_.schedule},
            {"goal", case_.goal},
            {"against_best", worst_},
            {"right", is_right_},
            {"compile_ms", compile_ms_},
            {"largest_error", largest_},
            {"peers", json_},
            {"point", tuned_.point},
            {"faster_than_default", tuned_.faster},
            {"trials_per_second", tuned_.trials_per_second}};
  }
  bool is_right() const { return is_right_; }

 private:
  std::string schedule() const {
    if (!is_tuned_) return case_.schedule.empty() ? "default" : case_.schedule;
    return tuned_.point.empty() ? "default, as tuned"
                                : "tuned, " + format("%.2f", tuned_.faster) + " of the default's speed";
  }

  void check(const std::string& who, const nlohmann::json& deviation) {
    if (who == "ferry") largest_ = std::max<double>(largest_, deviation["largest"]);
    if (deviation["good"].get<bool>()) return;
    is_right_ = false;
    wrong_ =
        who + " is off by " + format("%.3g", deviation["largest"]) + format(", allowed are %.3g", deviation["allowed"]);
  }

  const Case& case_;
  double compile_ms_;
  bench::TunedPoint tuned_;
  bool is_tuned_;
  nlohmann::json json_ = nlohmann::json::object();
  std::string peers_, wrong_;
  double worst_ = 0, seconds_ = 0, largest_ = 0;
  bool is_right_ = true;
};

// Returns false if a result was wrong.
bool run_cases(const Options& options, const fs::path& folder) {
  std::cout
      << "| case | schedule | ferry | peers: their speed, and ferry's against it (median, range) | against the best "
         "| goal | met | compile ms | largest error |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  nlohmann::json figures = nlohmann::json::array();
  bool all_right = true;
  for (const Case& c : bench::all_cases()) {
    if (c.name.find(options.only) == std::string::npos || (!options.budget.empty() && !can_be_tuned(c))) continue;
    const std::optional<Compiled> compiled = compile_case(c, options, folder);
    if (!compiled) {
      std::cerr << c.name << ": " << c.schedule << " has not been written yet\n";
      continue;
    }
    bench::Request request{c.operation, folder / "kernel.ferry", "", c.threads, options.rounds, c.bytes, c.blocked};
    std::ofstream(request.module, std::ios::binary)
        .write(reinterpret_cast<const char*>(compiled->module.data()),
               static_cast<std::streamsize>(compiled->module.size()));
    Row row(c, *compiled, !options.budget.empty());
    for (const std::string& peer : c.peers) {
      request.peer = peer;
      row.add(peer, compare(request, options, folder));
    }
    std::cout << row.text() << "\n" << std::flush;
    figures.push_back(row.json());
    all_right = all_right && row.is_right();
  }
  if (!options.json.empty()) std::ofstream(options.json) << figures.dump(2) << "\n";
  return all_right;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument("expected a value after " + name);
    if (name == "--only") {
      options.only = argv[i + 1];
    } else if (name == "--json") {
      options.json = argv[i + 1];
    } else if (name == "--rounds") {
      options.rounds = std::max(1, std::atoi(argv[i + 1]));
    } else if (name == "--tune") {
      options.budget = argv[i + 1];
    } else if (name == "--processes") {
      options.processes = std::max(1, std::atoi(argv[i + 1]));
    } else {
      throw std::invalid_argument("expected --only, --rounds, --processes, --tune or --json, got " + name);
    }
  }
  options.processes = std::min(options.processes, options.rounds);
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse_options(argc, argv);
  char pattern[] = "/tmp/ferry-kernels-XXXXXX";
  if (mkdtemp(pattern) == nullptr) throw std::runtime_error("cannot make a folder in /tmp");
  const bool all_right = run_cases(options, pattern);
  fs::remove_all(pattern);
  return all_right ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "ferry_kernel_bench: " << error.what() << "\n";
  return 2;
}
