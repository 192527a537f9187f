#include "farm/cli/farm_options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "farm/client/farm_address.h"
#include "host/cli/options/interrupts.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/text/progress.h"

namespace ferry::cli {

void add_farm_options(CLI::App& command, FarmOptions& options) {
  command
      .add_option(
          "--farm", options.farm,
          "The farm: a name in devices.toml or HOST:PORT of its tracker; default: the only farm of devices.toml")
      ->type_name("NAME|ADDRESS")
      ->check(some_text("a farm"))
      ->envname("FERRY_FARM");
  command
      .add_option("--key-file", options.key_file,
                  "Your key of that farm; without it, what devices.toml or FERRY_KEY_FILE names")
      ->type_name("FILE");
}

void add_farm_listing_options(CLI::App& command, FarmOptions& options) {
  add_farm_options(command, options);
  add_json_option(command, options.json);
}

farm::FarmAccess access_of(const FarmOptions& options) { return farm::find_farm(options.farm, options.key_file); }

farm::FarmClient connect_farm(const FarmOptions& options) { return farm::FarmClient(access_of(options)); }

void add_lease_options(CLI::App& command, LeaseFlags& options) {
  command
      .add_option("selectors", options.selectors,
                  "Which boards, one for each: a name, or terms such as arch=aarch64,memory>=2G,tag:bench")
      ->type_name("SELECTOR")
      ->required();
  command.add_option("--priority", options.priority, "0 to 100 (default 50); who waits rises by 1 a minute")
      ->type_name("N");
  command.add_option("--length", options.length, "How long to have the boards, such as 90s, 30m or 2h")
      ->type_name("TIME");
  command.add_option("--wait", options.wait, "How long to wait for them at most (default: a week)")->type_name("TIME");
  command
      .add_option("--job", options.job,
                  "What they are for, for those who wait (default: FERRY_JOB, or what the variables of continuous "
                  "integration say)")
      ->type_name("TEXT");
}

farm::LeaseOptions lease_options(const LeaseFlags& flags) {
  farm::LeaseOptions options;
  options.selectors = flags.selectors;
  if (!flags.priority.empty()) options.priority = farm::parse_priority(flags.priority, "--priority");
  if (!flags.length.empty()) options.length = farm::parse_time_span(flags.length, "--length");
  if (!flags.job.empty()) options.job = flags.job;
  if (!flags.wait.empty()) options.wait = farm::parse_time_span(flags.wait, "--wait");
  return options;
}

std::unique_ptr<farm::BoardLease> request_boards(const farm::FarmAccess& access, const farm::LeaseOptions& options) {
  const text::Progress progress("asking the farm " + access.name);
  farm::LeaseObserver observer;
  observer.waiting = [](const farm::wire::Waiting& waiting) {
    QueuePlace place;
    place.position = waiting.place;
    if (waiting.estimate_ms) place.wait_seconds = static_cast<double>(*waiting.estimate_ms) * 1e-3;
    text::Progress::show(place_text(place));
  };
  observer.is_cancelled = InterruptibleWork::is_requested;
  observer.notice = print_lease_notice;
  return value_or_throw(farm::BoardLease::request(access, options, std::move(observer)));
}

std::string lease_folder() {
  const auto variable = [](const char* name) {
    const char* value = getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");
  };
  std::string folder = variable("XDG_RUNTIME_DIR");
  if (!folder.empty()) {
    folder += "/ferry";
  } else {
    folder = variable("TMPDIR");
    folder = (folder.empty() ? "/tmp" : folder) + "/ferry-" + std::to_string(geteuid());
  }
  (void)mkdir(folder.c_str(), 0700);
  struct stat info{};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    throw UsageError("cannot make the folder " + folder + " for files of leases");
  }
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    throw UsageError("the folder " + folder + " for files of leases: expected it to be yours alone");
  }
  return folder;
}

}  // namespace ferry::cli
