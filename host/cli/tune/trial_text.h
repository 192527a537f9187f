// What 'ferry tune' and 'ferry records' print.
#pragma once

#include <string>

#include "host/text/json.h"
#include "host/tune/tune.h"

namespace ferry::cli {

// "12 s, 143 of 4 608 points (9.4/s): best 1.31 times as fast as the default"
std::string progress_text(const tune::Progress& progress);
text::Json trial_json(const tune::TuneRecord& trial, const tune::Progress& progress);

std::string tuned_text(const tune::Tuned& tuned, const std::string& records);
text::Json tuned_json(const tune::Tuned& tuned, const std::string& records);

// "measured", "too slow": for people.
std::string outcome_text(tune::Outcome outcome);
}  // namespace ferry::cli
