// Makes records of the trials of a task, and keeps them in a file.
#pragma once

#include "ferry/bench/comparison.h"
#include "host/tune/pipeline.h"
#include "host/tune/records/tune_record.h"
#include "host/tune/tuned_task.h"

#include <optional>
#include <string>

namespace ferry::tune {

class TrialRecords {
 public:
  // The task must outlive it. `version` is the compiler's; `file` may be empty, and then nothing is kept.
  TrialRecords(const TunedTask& task, std::string version, std::string file, const Hash& default_code)
      : task_(task), version_(std::move(version)), file_(std::move(file)), default_code_(default_code) {}

  TuneRecord record_of(const Tried& tried) const;
  // Leaves out what only people read where the record would be too long. Throws Error if the file cannot be written.
  void store(TuneRecord record) const;

  const std::string& version() const { return version_; }
  const Hash& default_code() const { return default_code_; }

 private:
  const TunedTask& task_;
  std::string version_, file_;
  Hash default_code_;
};

// Appends a record to a file as TrialRecords does.
void store_record(const std::string& file, TuneRecord record);

// Returns the trial that a comparison of the default schedule with another one is; nothing if it says nothing.
std::optional<Trial> trial_of(const bench::KernelComparison& compared);

}  // namespace ferry::tune
