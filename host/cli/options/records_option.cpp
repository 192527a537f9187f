#include "host/cli/options/records_option.h"

namespace ferry::cli {

namespace {

constexpr const char* kNoRecords = "none";

}  // namespace

void add_records_option(CLI::App& command, RecordsOption& records, ReadRecords read, DefaultRecords otherwise) {
  records.read = read;
  records.otherwise = otherwise;
  if (read == nullptr) return;
  command
      .add_option("--records", records.file,
                  otherwise == DefaultRecords::own
                      ? "What 'ferry tune' found, in place of default schedules: a file, or 'none' (default: your own, "
                        "~/.local/share/ferry/records.jsonl)"
                      : "What 'ferry tune' found, in place of default schedules: a file (default: none, not even your "
                        "own)")
      ->type_name("FILE");
}

void use_records(const RecordsOption& records, KernelSource& source, std::uint32_t threads) {
  const bool has_schedules = source.as_text() || source.as_network();
  if (records.file.empty() && records.otherwise == DefaultRecords::none) return;
  if (records.read == nullptr || records.file == kNoRecords || !has_schedules || source.compiler == nullptr) return;
  source.tuned = records.read(*source.compiler, records.file, threads);
}

}  // namespace ferry::cli
