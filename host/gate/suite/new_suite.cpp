#include "host/gate/suite/new_suite.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/format.h"
#include "base/printable.h"
#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/gate/suite/chosen_call.h"
#include "host/gate/suite/kernel_folder.h"
#include "host/gate/suite/read_suite.h"
#include "host/kernel/file.h"
#include "host/kernel/kernel.h"

namespace ferry::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostSourceBytes = 4 << 20;
constexpr std::size_t kMostReason = 300, kMostSignature = 300;

constexpr const char* kBegin =
    "# What 'ferry gate' compares with the baseline, and how large a change matters.\n"
    "#\n"
    "# ferry has chosen the sizes that a kernel leaves open, each a power of two. Replace them by those that matter to "
    "you.\n"
    "# Times are those of one call on this machine. Calls of less than a microsecond are hard to measure.\n"
    "\n"
    "tolerance = \"2%\"     # a smaller change of the time does not matter; a case may have its own\n"
    "error-level = \"1%\"   # the probability of a false alarm anywhere in a run\n"
    "cannot-tell = \"fail\" # or \"pass\": whether a run passes that could not tell\n"
    "\n"
    "# [boards.pi]        # boards on which the cases run; without any, --remote names one\n"
    "# remote = \"farm://lab/rpi4\"\n";

// A case of the new suite, before it has a name.
struct FoundCase {
  std::string file;  // relative to the folder of kernels
  std::string function;
  bool is_only = true;  // the file has no other function
  bool is_network = false;
  std::string schedule;  // relative to the folder; empty: none
  std::string signature;
  ChosenCall chosen;
};

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      all += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      all += c;
    }
  }
  return all + "\"";
}

std::string key_text(const std::string& name) {
  const bool is_bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return is_bare ? name : quoted(name);
}

std::string first_line(const std::string& message) {
  const std::string line = message.substr(0, message.find('\n'));
  return printable(line.size() > kMostReason ? line.substr(0, kMostReason) + "..." : line);
}

std::string without_start(const std::string& text, const std::string& start) {
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

// Collects the cases of files, and why there are none of others.
class Collector {
 public:
  Collector(const Compiler& compiler, std::string folder, const TimeOfKernel& time)
      : compiler_(compiler), folder_(std::move(folder)), time_(time) {}

  void add(const std::string& file) {
    try {
      add_functions(file);
    } catch (const Error& error) {
      skip(file, first_line(without_start(error.what(), path_of(file) + ": ")));
    }
  }
  void skip(const std::string& what, const std::string& why) { skipped.push_back({printable(what), why}); }

  std::vector<FoundCase> cases;
  std::vector<SkippedFiles> skipped;

 private:
  std::string path_of(const std::string& file) const { return folder_ + "/" + file; }

  void add_functions(const std::string& file) {
    if (printable(file) != file) return skip(file, "its name cannot be printed");
    if (file.ends_with(".ferry") || file.ends_with(".o") || file.ends_with(".so") || file.ends_with(".bc"))
      return skip(file, "is compiled already: the gate compiles kernels itself");
    std::error_code failure;
    const std::uintmax_t bytes = fs::file_size(path_of(file), failure);
    if (!is_network(file) && !failure && bytes > kMostSourceBytes)
      return skip(file, format("expected a source of at most %ju bytes, got %ju", kMostSourceBytes, bytes));
    KernelOptions kernel;
    kernel.file = path_of(file);
    const KernelSource source = read_kernel(&compiler_, kernel);
    if (const NetworkKernel* network = source.as_network())
      return add_case(file, source, network->network->function(), true);
    std::vector<FunctionInfo> functions;
    if (const ForeignKernel* foreign = source.as_foreign()) functions = foreign->functions;
    if (const TextKernel* text = source.as_text())
      for (const lang::Program& program : text->programs) functions.push_back(compiler_.describe(program));
    if (functions.empty()) return skip(file, "defines no function");
    for (const FunctionInfo& function : functions) {
      try {
        add_case(file, source, function, functions.size() == 1);
      } catch (const UsageError& error) {
        skip(file + ": " + function.name, first_line(error.what()));
      }
    }
  }

  void add_case(const std::string& file, const KernelSource& source, const FunctionInfo& function, bool is_only) {
    const bool is_network = source.as_network() != nullptr;
    FoundCase found{file, function.name, is_only, is_network, "", signature_text(function), {}};
    TimeOfCall time;
    if (time_) time = [&](const CallOptions& call) { return time_(source, function.name, call); };
    found.chosen = chosen_call(function, is_network, input_range(source), time);
    if (file.ends_with(".tc")) found.schedule = schedule_of(file);
    cases.push_back(std::move(found));
  }

  // Returns the schedule that is called like the kernel; empty if there is none that could be used as it is.
  std::string schedule_of(const std::string& file) {
    const std::string schedule = file.substr(0, file.rfind('.')) + ".schedule";
    if (!fs::is_regular_file(path_of(schedule))) return "";
    ScheduleOptions options;
    options.file = path_of(schedule);
    const auto text = read_schedule(options);
    return text && compiler_.knobs_of(*text).empty() ? schedule : "";
  }

  const Compiler& compiler_;
  const std::string folder_;
  const TimeOfKernel& time_;
};

// Returns the function's name where no other case has it, otherwise one with the file.
std::string name_of(const FoundCase& one, const std::map<std::string, std::size_t>& uses) {
  const std::string stem = fs::path(one.file).stem().string();
  const std::string& shortest = one.is_network ? stem : one.function;
  if (uses.at(shortest) == 1) return shortest;
  return one.is_only ? one.file : one.file + ":" + one.function;
}

std::string text_of(const FoundCase& one, const std::string& name, const std::string& folder) {
  std::string text = "\n";
  if (one.signature.size() <= kMostSignature) text += "# " + printable(one.signature) + "\n";
  if (one.chosen.seconds) text += "# " + seconds_text(*one.chosen.seconds) + " a call\n";
  text += "[cases." + key_text(name) + "]\nkernel = " + quoted(folder + one.file) + "\n";
  if (!one.is_only) text += "function = " + quoted(one.function) + "\n";
  if (!one.schedule.empty()) text += "schedule = " + quoted(folder + one.schedule) + "\n";
  const CallOptions& call = one.chosen.call;
  if (!call.sizes.empty()) text += "sizes = " + quoted(join(",", call.sizes)) + " # chosen by ferry\n";
  std::vector<std::string> inputs;
  for (const std::string& input : call.arguments) inputs.push_back(quoted(input));
  if (!inputs.empty()) text += "inputs = [" + join(", ", inputs) + "] # chosen by ferry\n";
  return text;
}

// Returns the way from one folder to another, with a slash behind it, or nothing if they are the same.
std::string way_between(const std::string& from, const std::string& to) {
  std::error_code failure;
  const std::string way = fs::proximate(to, from, failure).string();
  if (failure) throw UsageError(printable(to) + ": cannot be reached: " + failure.message());
  return way == "." || way.empty() ? "" : way + "/";
}

}  // namespace

NewSuite suite_for(const Compiler& compiler, const std::string& folder, const std::string& suite_folder,
                   const TimeOfKernel& time) {
  const KernelFolder files = find_kernels(folder);
  Collector found(compiler, folder, time);
  for (const std::string& file : files.kernels) found.add(file);
  for (const auto& [extension, count] : files.others)
    found.skip((extension.empty() ? "*" : "*" + extension) + format(" (%zu file%s)", count, count == 1 ? "" : "s"),
               "are no kernels");
  if (found.cases.empty()) {
    const std::string why =
        found.skipped.empty() ? "" : "; " + found.skipped.front().what + ": " + found.skipped.front().why;
    throw UsageError(printable(folder) +
                     ": expected a kernel: a .tc file, a network, or a C or C++ file with a comment " +
                     "'// ferry: NAME(...)'" + why);
  }
  if (found.cases.size() > kMaxCases)
    throw UsageError(
        format("%s: expected at most %zu kernels, got %zu", printable(folder).c_str(), kMaxCases, found.cases.size()));
  std::map<std::string, std::size_t> uses;
  for (const FoundCase& one : found.cases) ++uses[one.is_network ? fs::path(one.file).stem().string() : one.function];
  const std::string way = way_between(suite_folder, folder);
  NewSuite suite{kBegin, 0, {}};
  std::set<std::string> names;
  for (const FoundCase& one : found.cases) {
    const std::string name = name_of(one, uses);
    if (name.size() > kMaxCaseName || !names.insert(name).second) {
      found.skip(one.file, format("expected a name of at most %zu bytes that no other case has", kMaxCaseName));
      continue;
    }
    suite.text += text_of(one, name, way);
    ++suite.cases;
  }
  suite.skipped = std::move(found.skipped);
  return suite;
}

}  // namespace ferry::gate
