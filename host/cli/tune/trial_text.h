// What 'ferry tune' and 'ferry records' print.
#pragma once

#include <string>

#include "host/text/json.h"
#include "host/tune/tune.h"

namespace ferry::cli {

// "9.4/s"; empty before the first second has begun.
std::string rate_text(const tune::Progress& progress);
// Returns ", 3 wrong" for each outcome that is no time.
std::string failures_text(const tune::Progress& progress);
// Returns "62% of peak", or "62% of a copy's rate" where memory is the limit, for a call of so many seconds; empty
// if the peaks or the time are not known.
std::string peak_text(const tune::Progress& progress, double seconds);
// "1.07" with two digits.
std::string fixed_text(double value, int digits);

text::Json progress_json(const tune::Progress& progress);
text::Json trial_json(const tune::TuneRecord& trial, const tune::Progress& progress);

std::string tuned_text(const tune::Tuned& tuned, const std::string& records);
text::Json tuned_json(const tune::Tuned& tuned, const std::string& records);

// "measured", "too slow": for people.
std::string outcome_text(tune::Outcome outcome);

// "K=70,M=512 (open)": the sizes of a record's call.
std::string sizes_text(const tune::TuneRecord& record);

}  // namespace ferry::cli
