// Records as lines of JSON. An object has `schema` ("ferry.tune/1"); `program`, `schedule` (absent: the default's
// space), `arch`, `cpu`, `features`, `threads`: the key; `function`, `sizes`, `fixed`, `device`, `l1_bytes`,
// `l2_bytes`; `outcome`, `reason`, `point`, `values`, `directives`, `code`, `seconds` and `interval_95_seconds`,
// `confirmed`; `default_code`, `default_seconds` and `default_interval_95_seconds`; `version`, `environment`, `time`
// (milliseconds since 1970, UTC). Hashes are hexadecimal. Fields that are empty, zero or unknown are absent. Readers
// ignore fields that they do not know.
#pragma once

#include "base/status.h"
#include "host/tune/records/tune_record.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace ferry::tune {

// "too_slow", as records have it.
std::string outcome_name(Outcome outcome);

// The largest size of a line with its end. One write of so few bytes is not torn by others that append to the same
// file.
inline constexpr std::size_t kMaxRecordBytes = 4096;

// Returns the record as a line with its end. Fails with invalid_argument if it is longer than kMaxRecordBytes.
Result<std::string> record_line(const TuneRecord& record);

// Fails with invalid_argument for what is no record, or one of another schema.
Result<TuneRecord> parse_record(std::string_view line);

}  // namespace ferry::tune
