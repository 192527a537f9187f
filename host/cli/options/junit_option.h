// --junit FILE: a report for continuous integration.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "host/text/junit.h"

namespace ferry::cli {

void add_junit_option(CLI::App& command, std::string& file);

// Runs a command's work, which adds its cases to the report, and writes the report to the file; without a file it only
// runs the work. Throws UsageError before the work if the file cannot be written. During the work the file
// says that there is no result yet, so that nobody takes the report of an earlier run for this one's. If the work
// throws, the report has one more case that says why, and the exception goes on.
int with_junit(const std::string& file, const std::string& suite, const std::function<int(text::JUnitReport&)>& work);

}  // namespace ferry::cli
