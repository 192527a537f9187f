// Where schedules that tuning has found are taken from.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "host/kernel/kernel.h"

namespace ferry::cli {

// Reads a file of records; an empty name stands for the user's own, which need not exist. `threads` is how many a
// parallel loop may have; 0: as many as the device has. Returns null if there are no records.
using ReadRecords = std::shared_ptr<const TunedSchedules> (*)(const Compiler& compiler, const std::string& file,
                                                              std::uint32_t threads);

// The records that are used without the option. Results that a job makes for others must not depend on whose machine it
// runs on.
enum class DefaultRecords { own, none };

struct RecordsOption {
  ReadRecords read = nullptr;  // null in a ferry that does not tune
  std::string file;            // empty: the default; "none"
  DefaultRecords otherwise = DefaultRecords::own;
};

// Adds --records FILE if records can be read.
void add_records_option(CLI::App& command, RecordsOption& records, ReadRecords read,
                        DefaultRecords otherwise = DefaultRecords::own);

// Gives a kernel whose default schedule is to be chosen those that are known.
void use_records(const RecordsOption& records, KernelSource& source, std::uint32_t threads = 0);

}  // namespace ferry::cli
