#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "host/cli/options/json_option.h"
#include "host/cli/tune/trial_text.h"
#include "host/cli/tune/tune_command.h"
#include "host/kernel/file.h"
#include "host/text/columns.h"
#include "host/text/json.h"
#include "host/text/style.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_set.h"
#include "host/tune/records/record_text.h"

namespace ferry::cli {

namespace {

struct RecordsCommand {
  std::vector<std::string> files;
  std::string output;  // path of a file
  std::size_t kept = 8;
  bool json = false;
};

std::vector<tune::TuneRecord> records_in(const std::string& file) {
  if (!std::filesystem::exists(file)) throw UsageError(file + ": there is no such file of records");
  tune::RecordFile read = value_or_throw(tune::read_records(file));
  if (read.skipped > 0)
    text::print_note(file + ": " + count_text(read.skipped) + " lines are no records of this version and are ignored");
  return std::move(read.records);
}

// Returns the named files, or the user's own.
std::vector<std::string> files_of(const RecordsCommand& options) {
  if (!options.files.empty()) return options.files;
  const std::string own = tune::user_records();
  if (own.empty()) throw UsageError("expected a file of records, because there is no home for your own");
  return {own};
}

std::vector<tune::TuneRecord> merged(const RecordsCommand& options) {
  std::vector<std::vector<tune::TuneRecord>> lists;
  for (const std::string& file : files_of(options)) lists.push_back(records_in(file));
  return tune::merge_records(std::move(lists));
}

std::string device_text(const tune::DeviceKey& device) {
  std::string text = device.cpu.empty() ? device.arch : device.cpu;
  if (device.threads > 0)
    text += ", " + std::to_string(device.threads) + (device.threads == 1 ? " thread" : " threads");
  return text;
}

std::string faster_text(const tune::TuneRecord& record) {
  const double share = *tune::share_of_default(record);
  return record.confirmed && share < 1 && !tune::is_faster_than_default(record) ? "cannot tell"
                                                                                : tune::gain_text(share);
}

int list(const RecordsCommand& options) {
  const std::vector<tune::TuneRecord> records = merged(options);
  std::map<tune::TaskKey, std::vector<const tune::TuneRecord*>> tasks;
  for (const tune::TuneRecord& record : records) tasks[record.key].push_back(&record);
  text::Json json = text::Json::array();
  text::Rows rows{{"function", "sizes", "device", "trials", "best", "faster", "point"}};
  for (const auto& [key, trials] : tasks) {
    const tune::TuneRecord& newest = *trials.back();
    const std::optional<tune::TuneRecord> best = tune::best_record(records, key);
    std::string point = best ? best->point : "";
    if (best && !best->algorithm.empty()) point = "algorithm=" + best->algorithm + "; " + point;
    for (char& c : point)
      if (c == '\n') c = ';';
    while (point.ends_with(';')) point.pop_back();
    if (options.json) {
      text::Json one = {{"function", newest.function}, {"sizes", newest.sizes}, {"fixed", newest.fixed},
                        {"arch", key.device.arch},     {"cpu", key.device.cpu}, {"threads", key.device.threads},
                        {"trials", trials.size()}};
      if (best) {
        one["seconds"] = best->time->seconds;
        one["default_seconds"] = best->default_time->seconds;
        one["confirmed"] = best->confirmed;
        if (!best->algorithm.empty()) one["algorithm"] = best->algorithm;
        one["point"] = best->point;
      }
      json.push_back(std::move(one));
    } else {
      rows.push_back({printable(newest.function), printable(sizes_text(newest)), printable(device_text(key.device)),
                      count_text(trials.size()), best ? seconds_text(best->time->seconds) : "",
                      best ? faster_text(*best) : "", printable(point)});
    }
  }
  if (options.json)
    text::print_json({{"schema", "ferry.records/1"}, {"tasks", json}});
  else if (tasks.empty())
    std::puts("no records");
  else
    text::print_columns(rows);
  return kExitFine;
}

// Writes what a suite or an export may be given: it says which schedules are used, and nothing else.
int best(const RecordsCommand& options) {
  std::vector<tune::TuneRecord> records = tune::best_records(merged(options));
  std::erase_if(records, [](const tune::TuneRecord& record) { return !record.confirmed; });
  std::string lines;
  for (const tune::TuneRecord& record : records) lines += value_or_throw(tune::record_line(record));
  if (options.output.empty() || options.output == "-") {
    std::fputs(lines.c_str(), stdout);
    return kExitFine;
  }
  write_file(options.output, lines.data(), lines.size());
  std::printf("%s: %s records\n", options.output.c_str(), count_text(records.size()).c_str());
  return kExitFine;
}

int merge(const RecordsCommand& options) {
  const std::vector<tune::TuneRecord> records = merged(options);
  if (options.output.empty()) throw UsageError("expected -o FILE, which takes the records of all files");
  throw_failure(tune::replace_records(options.output, [&](const std::vector<tune::TuneRecord>& there) {
    return tune::merge_records({there, records});
  }));
  std::printf("%s: %s records\n", options.output.c_str(), count_text(records.size()).c_str());
  return kExitFine;
}

int prune(const RecordsCommand& options) {
  for (const std::string& file : files_of(options)) {
    std::size_t before = 0, after = 0;
    throw_failure(tune::replace_records(file, [&](std::vector<tune::TuneRecord> records) {
      before = records.size();
      records = tune::prune_records(std::move(records), options.kept);
      after = records.size();
      return records;
    }));
    std::printf("%s: %s of %s records kept\n", file.c_str(), count_text(after).c_str(), count_text(before).c_str());
  }
  return kExitFine;
}

}  // namespace

void add_records(CLI::App& app, Action& chosen, const session::Schemes& schemes) {
  CLI::App& command = *app.add_subcommand("records", "List, merge, prune and verify what 'ferry tune' found");
  command.require_subcommand(1);
  const auto add = [&](const char* name, const char* help,
                       int (*run)(const RecordsCommand&)) -> std::pair<CLI::App&, std::shared_ptr<RecordsCommand>> {
    auto options = std::make_shared<RecordsCommand>();
    CLI::App& one = *command.add_subcommand(name, help);
    one.add_option("FILE", options->files, "Files of records (default: your own)")->type_name("FILE");
    one.callback([options, run, &chosen] { chosen = [options, run](const Compiler*) { return run(*options); }; });
    return {one, options};
  };
  const auto [list_command, list_options] = add("list", "What was tuned, and the best of each task", list);
  add_json_option(list_command, list_options->json);
  const auto [merge_command, merge_options] = add("merge", "Put the records of several files into one", merge);
  merge_command.add_option("-o,--output", merge_options->output, "The file, whose own records stay")->type_name("FILE");
  const auto [best_command, best_options] =
      add("best", "Write the confirmed best record of each task, for a suite or a colleague", best);
  best_command.add_option("-o,--output", best_options->output, "The file, '-' for standard output (the default)")
      ->type_name("FILE");
  const auto [prune_command, prune_options] =
      add("prune", "Keep the best records of each task, and those of schedules that failed", prune);
  prune_command.add_option("--keep", prune_options->kept, "How many of each task")
      ->type_name("N")
      ->capture_default_str();
  add_records_verify(command, chosen, schemes);
}

}  // namespace ferry::cli
