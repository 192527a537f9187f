#include "host/cli/options/records_option.h"

namespace ferry::cli {

namespace {

constexpr const char* kNoRecords = "none";

}  // namespace

void add_records_option(CLI::App& command, RecordsOption& records, ReadRecords read) {
  records.read = read;
  if (read == nullptr) return;
  command
      .add_option("--records", records.file,
                  "What 'ferry tune' found, in place of default schedules: a file, or 'none' (default: your own, "
                  "~/.local/share/ferry/records.jsonl)")
      ->type_name("FILE");
}

void use_records(const RecordsOption& records, KernelSource& source, std::uint32_t threads) {
  TextKernel* text = source.as_text();
  if (records.read == nullptr || records.file == kNoRecords || text == nullptr || source.compiler == nullptr) return;
  text->tuned = records.read(*source.compiler, records.file, threads);
}

}  // namespace ferry::cli
