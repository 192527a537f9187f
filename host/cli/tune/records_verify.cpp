// 'ferry records verify': says whether what another version of ferry found still holds, and records it.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/schedule_option.h"
#include "host/cli/options/target_option.h"
#include "host/cli/tune/trial_text.h"
#include "host/cli/tune/tune_command.h"
#include "host/cli/tune/tuning_work.h"
#include "host/text/json.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/verify_records.h"

namespace ferry::cli {

namespace {

struct VerifyCommand {
  std::vector<std::string> kernels;
  KernelCommand kernel;
  RemoteOptions remote;
  tune::VerifyOptions verify;
  std::string target;
  bool json = false;
};

std::string gain_of(const tune::TuneRecord& record) {
  const std::optional<double> share = tune::share_of_default(record);
  return share ? tune::gain_text(*share) + " times as fast as the default"
               : outcome_text(record.outcome) + " (" + printable(record.reason) + ")";
}

std::string verdict_text(const tune::VerifiedTask& task) {
  switch (task.verdict) {
    case tune::Verdict::current: return "up to date, " + gain_of(task.before);
    case tune::Verdict::same_code: return "the same code as before, " + gain_of(task.before);
    case tune::Verdict::measured: return gain_of(*task.after) + ", before: " + gain_of(task.before);
    case tune::Verdict::gone: return "there is no such schedule any more, and it is not used";
    case tune::Verdict::in_network:
      return "confirmed in the network " + printable(tune::place_of(task.before).network) +
             ", which must be tuned again, since the code is another one now; before: " + gain_of(task.before);
    case tune::Verdict::not_decided: return "the comparison could not be made; before: " + gain_of(task.before);
  }
  return "";
}

text::Json to_json(const tune::VerifiedTask& task) {
  text::Json json = {{"function", task.before.function},
                     {"sizes", task.before.sizes},
                     {"verdict", tune::verdict_name(task.verdict)},
                     {"share_before", *tune::share_of_default(task.before)}};
  if (!task.after) return json;
  json["outcome"] = outcome_text(task.after->outcome);
  if (const auto share = tune::share_of_default(*task.after)) json["share"] = *share;
  return json;
}

int verify(const Compiler* compiler, VerifyCommand& options) {
  options.verify.records = records_or_own(options.verify.records);
  if (!std::filesystem::exists(options.verify.records))
    throw UsageError(options.verify.records + ": there is no such file of records");
  const TuningWork work;
  const bench::NamedDevice device{options.remote.address, opening(options.remote)};
  text::Json tasks = text::Json::array();
  options.verify.on_task = [&](const tune::VerifiedTask& task) {
    if (options.json)
      tasks.push_back(to_json(task));
    else
      std::printf("%s %s: %s\n", printable(task.before.function).c_str(), printable(sizes_text(task.before)).c_str(),
                  verdict_text(task).c_str());
  };
  std::size_t found = 0;
  for (const std::string& file : options.kernels) {
    options.kernel.file = file;
    const tune::TunedKernel kernel{read_kernel(&expect_compiler(compiler, "ferry records verify"), options.kernel),
                                   options.kernel.function, options.target};
    found += tune::verify_records(device, kernel, options.verify, work.observer).size();
  }
  if (options.json)
    text::print_json({{"schema", "ferry.verified/1"}, {"tasks", tasks}});
  else if (found == 0)
    std::puts("no confirmed record is of these kernels and this device");
  return kExitFine;
}

}  // namespace

void add_records_verify(CLI::App& records, Action& chosen, const session::Schemes& schemes) {
  auto options = std::make_shared<VerifyCommand>();
  CLI::App& command = *records.add_subcommand(
      "verify", "Settle what other versions of ferry found: compile it again, and measure what became other code");
  command.add_option("KERNEL", options->kernels, "The kernels that were tuned: K.tc")->type_name("FILE")->required();
  command.add_option("--fn", options->kernel.function, "Only this function")->type_name("NAME");
  add_schedule_options(command, options->kernel.schedule);
  add_remote_option(command, options->remote, schemes);
  add_target_option(command, options->target);
  add_comparison_options(command, {options->verify.records, options->verify.processes, options->verify.threads},
                         {.records = "The file of records, to which the results are added (default: your own)",
                          .processes = "Processes in which a schedule is compared with the default"})
      ->check(whole_number(bench::kLeastProcesses, bench::kMostProcesses));
  add_json_option(command, options->json);
  command.footer(
      "A record has no program, so the kernels must be named; each is known by what it computes.\n\n"
      "Example:\n"
      "  ferry records verify conv.tc mm.tc --remote pi");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return verify(compiler, *options); }; });
}

}  // namespace ferry::cli
