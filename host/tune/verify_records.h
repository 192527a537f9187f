// Settles what records of other versions of ferry say: the schedules that they name are compiled again, and measured
// again where the code is another one.
#pragma once

#include "ferry/bench/measure_options.h"
#include "ferry/kernel/observer.h"
#include "host/tune/records/tune_record.h"
#include "host/tune/tune.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

enum class Verdict : std::uint8_t {
  current,      // this version measured it
  same_code,    // this version compiles the same code, so it counts as measured
  measured,     // compared with the default again
  gone,         // the space does not have the schedule any more
  not_decided,  // the comparison said nothing
  in_network,   // other code now, and it was confirmed in a network, which must be tuned again
};

struct VerifiedTask {
  Verdict verdict = Verdict::current;
  TuneRecord before;                     // one of the best of its task
  std::optional<TuneRecord> after = {};  // what was appended, if anything
};

struct VerifyOptions {
  std::string records;           // the file that is read and appended to
  std::uint32_t processes = 12;  // a comparison takes so many
  std::vector<std::uint32_t> cores = {};
  std::uint32_t threads = 0;  // in parallel loops; 0: as many as the device has
  // Called as each task is settled, on the thread that called verify_records().
  std::function<void(const VerifiedTask& task)> on_task = {};
};

// Takes the confirmed best records of this kernel's functions for the device, with the sizes that they have. The
// observer may interrupt it between two of them. Throws as tune().
std::vector<VerifiedTask> verify_records(const bench::NamedDevice& device, const TunedKernel& kernel,
                                         const VerifyOptions& options, const Observer& observer = {});

// "same_code".
std::string verdict_name(Verdict verdict);

}  // namespace ferry::tune
