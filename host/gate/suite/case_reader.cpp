#include "host/gate/suite/case_reader.h"

#include <functional>

#include "base/printable.h"
#include "base/quantity.h"
#include "ferry/error.h"
#include "host/gate/suite/read_suite.h"
#include "host/gate/suite/suite_files.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/schedule_choice.h"
#include "host/measure/cores.h"

namespace ferry::gate {
namespace {

// In bytes, and of the entries of a list.
constexpr std::size_t kMaxFile = 4096, kMaxText = 16'384, kMaxWord = 256, kMaxList = 1024, kMaxCaseBoards = 64;
constexpr double kLeastTolerance = 1e-5, kMostTolerance = 1;
constexpr double kLeastTime = 1e-9, kMostTime = 24 * 3600;

// Refuses the key's value for the reason with which the check throws.
void check(TomlReader& reader, const char* key, const std::function<void()>& throwing) {
  try {
    throwing();
  } catch (const Error& error) {
    reader.refuse(key, printable(error.what()));
  }
}

void read_time(TomlReader& reader, const char* key, const std::function<void(double)>& set) {
  reader.read(key, "a time from 1ns to 24 hours, such as 800us, 3ms or 10s", [&set](const std::string& text) {
    const auto seconds = parse_seconds(text);
    if (!seconds || *seconds < kLeastTime || *seconds > kMostTime) return false;
    set(*seconds);
    return true;
  });
}

// Returns the value of a key for a whole number.
std::uint32_t read_count(TomlReader& reader, const char* key, std::int64_t most, std::uint32_t value) {
  std::int64_t number = value;
  reader.read(key, 1, most, number);
  return static_cast<std::uint32_t>(number);
}

void read_sampling(TomlReader& reader, bench::SamplingOptions& sampling) {
  BenchOptions& bench = sampling.bench;
  bench.threads = read_count(reader, "threads", 4096, bench.threads);
  bench.repeat = read_count(reader, "samples", 50'000, bench.repeat);
  reader.read("cold", bench.cold);
  bool warm = !sampling.fresh_inputs;
  reader.read("warm", warm);
  sampling.fresh_inputs = !warm;
  if (warm && bench.cold) reader.refuse("warm", "expected warm or cold, got both");
  read_time(reader, "timeout", [&bench](double seconds) { bench.timeout_ms = seconds * 1e3; });
  std::string cores;
  reader.read("cores", kMaxWord, cores);
  if (!cores.empty()) check(reader, "cores", [&] { bench::set_cores(cores, sampling); });
}

void read_tolerances(TomlReader& reader, SuiteCase& one) {
  reader.read("tolerance", "a share of the time from 0.001% to 100%, such as 2%", [&one](const std::string& text) {
    one.tolerance = parse_percent(text).value_or(0);
    return one.tolerance >= kLeastTolerance && one.tolerance <= kMostTolerance;
  });
  const auto read_error = [&reader](const char* key, std::optional<double>& limit) {
    double error = limit.value_or(-1);
    reader.read(key, 0, 1e30, error);
    if (error >= 0) limit = error;
  };
  read_error("rtol", one.results.rtol);
  read_error("atol", one.results.atol);
}

void read_schedule_keys(TomlReader& reader, ScheduleOptions& schedule) {
  reader.read("schedule", kMaxFile, schedule.file);
  if (is_stdin(schedule.file)) reader.refuse("schedule", "expected a file, got stdin");
  reader.read_one_or_more("knobs", kMaxList, kMaxWord, schedule.knobs);
  check(reader, "knobs", [&schedule] { parse_knobs(schedule.knobs); });
  if (schedule.file.empty() || schedule.file == kDefaultSchedule || schedule.file == kUnscheduled)
    reader.refuse("knobs", "expected a file of a schedule that has them");
}

void read_kernel_keys(TomlReader& reader, KernelOptions& kernel) {
  reader.read("kernel", kMaxFile, kernel.file);
  if (is_stdin(kernel.file)) reader.refuse("kernel", "expected a file, got stdin");
  reader.read("function", kMaxWord, kernel.function);
  reader.read("signature", kMaxText, kernel.signature);
  reader.read("launch", kMaxText, kernel.launch);
  reader.read_one_or_more("fixed", kMaxList, kMaxWord, kernel.fixed);
  check(reader, "fixed", [&kernel] { parse_sizes(kernel.fixed, Option::fixed_size); });
  reader.read_one_or_more("bindings", kMaxList, kMaxFile, kernel.bindings);
  for (const std::string& text : kernel.bindings)
    if (file_of_input(text).empty()) reader.refuse("bindings", printable(text) + ": expected NAME=@FILE.npy");
  reader.read("winograd", kernel.winograd);
  bool in_integers = kernel.int8 != Int8Mode::off;
  reader.read("int8", in_integers);
  if (!in_integers) kernel.int8 = Int8Mode::off;
  read_schedule_keys(reader, kernel.schedule);
}

void read_call(TomlReader& reader, CallOptions& call) {
  reader.read_one_or_more("sizes", kMaxList, kMaxText, call.sizes);
  check(reader, "sizes", [&call] { parse_sizes(call.sizes); });
  reader.read_one_or_more("inputs", kMaxList, kMaxFile, call.arguments);
  check(reader, "inputs", [&call] {
    for (const std::string& text : call.arguments) parse_argument(text);
  });
}

void read_limits(TomlReader& reader, const SuiteCase& one, Limits& limits) {
  const toml::table* table = reader.table("limits");
  if (table == nullptr) return;
  TomlReader values(reader.path(), "cases." + one.name + ".limits", *table);
  read_time(values, "time", [&limits](double seconds) { limits.seconds = seconds; });
  values.read("bytes", "a number of bytes above 0, such as 512, 40K or 2M", [&limits](const std::string& text) {
    limits.bytes = parse_byte_count(text);
    return limits.bytes.value_or(0) > 0;
  });
  values.read("flops", "a share of the peak above 0% and up to 100%, such as 50%", [&limits](const std::string& text) {
    limits.share_of_peak = parse_percent(text);
    return limits.share_of_peak.value_or(0) > 0 && *limits.share_of_peak <= 1;
  });
  reader.refuse(values.finish());
}

}  // namespace

void read_shared(TomlReader& reader, SuiteCase& one) {
  read_tolerances(reader, one);
  reader.read("thorough", one.thorough);
  reader.read("target", kMaxText, one.target);
  reader.read("cflags", kMaxText, one.kernel.c_flags);
  reader.read("records", kMaxFile, one.records);
  if (is_stdin(one.records)) reader.refuse("records", "expected a file, got stdin");
  auto seed = static_cast<std::int64_t>(one.call.seed);
  reader.read("seed", 0, INT64_MAX, seed);
  one.call.seed = static_cast<std::uint64_t>(seed);
  read_sampling(reader, one.sampling);
}

void read_case(TomlReader& reader, SuiteCase& one) {
  read_shared(reader, one);
  read_kernel_keys(reader, one.kernel);
  read_call(reader, one.call);
  reader.read("allow-difference", one.allow_difference);
  reader.read("was", kMaxCaseName, one.was);
  read_limits(reader, one, one.limits);
  reader.read_one_or_more("boards", kMaxCaseBoards, kMaxWord, one.boards);
}

}  // namespace ferry::gate
