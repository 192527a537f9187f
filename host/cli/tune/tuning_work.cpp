#include "host/cli/tune/tuning_work.h"

#include "host/cli/options/terminal.h"
#include "host/tune/recorded_schedules.h"

namespace ferry::cli {

CLI::Option* add_comparison_options(CLI::App& command, ComparisonOptions options, const ComparisonHelp& help) {
  command.add_option("--records", options.records, help.records)->type_name("FILE");
  command.add_option("--threads", options.threads, "Maximum in parallel loops (default: all of the device)")
      ->type_name("N");
  return command.add_option("--processes", options.processes, help.processes)->type_name("N")->capture_default_str();
}

TuningWork::TuningWork() : observer(terminal()) { observer.is_interrupted = InterruptibleWork::is_requested; }

std::string records_or_own(const std::string& file) { return file.empty() ? tune::user_records() : file; }

}  // namespace ferry::cli
