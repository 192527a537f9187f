// Files of records, to which several processes may append at once. A process may be killed at any time: what it has
// appended stays, and the rest of a line that it did not finish is skipped.
#pragma once

#include "base/status.h"
#include "host/tune/records/tune_record.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::tune {

struct RecordFile {
  std::vector<TuneRecord> records;  // in the order in which they were appended
  std::size_t skipped = 0;          // lines that are no records of this version
};

// Appends a record in one write under a lock. Makes the file, but not its folder. Fails with invalid_argument for a
// record that is too long, and with unavailable if the file cannot be written, or another process has held the lock for
// 10 seconds; the file is then as before.
Status append_record(const std::string& path, const TuneRecord& record);

// A file that does not exist has no records. Fails with unavailable if it cannot be read. Of a program only its records
// are read, which is many times as fast in a file with those of others.
Result<RecordFile> read_records(const std::string& path, const std::optional<Hash>& program = std::nullopt);

// The two steps of the same: the contents of a file, which are empty if it does not exist, and the records in them.
Result<std::string> read_record_text(const std::string& path);
RecordFile records_in(std::string_view text, const std::optional<Hash>& program = std::nullopt);

// Returns a hash of the lines in such contents on which it depends what the confirmed best records are, without parsing
// them: other trials leave it as it is.
Hash hash_of_confirmed(std::string_view text);

// Replaces what is in the file by what `keep` returns for its records, while others wait with appending. After a crash
// the file is as before or complete. Lines that are no records of this version are dropped. Fails with unavailable as
// append_record() and read_records() do.
Status replace_records(const std::string& path,
                       const std::function<std::vector<TuneRecord>(std::vector<TuneRecord> records)>& keep);

}  // namespace ferry::tune
