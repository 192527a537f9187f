// The files that a suite names.
#pragma once

#include <string>

#include "base/status.h"
#include "host/gate/api/suite.h"

namespace ferry::gate {

// Returns the folder that a file is in: "." for "suite.toml".
std::string folder_of(const std::string& file);

// Whether the name stands for stdin, which a suite cannot use.
bool is_stdin(const std::string& file);

// Returns "a.npy" for "A=@a.npy"; empty: it names none.
std::string file_of_input(const std::string& text);

// Puts the folder before every relative name of a file, unless it is ".".
void resolve_files(const std::string& folder, SuiteCase& one);

// Fails with invalid_argument if one of the case's files is none or does not exist, with its place in the suite.
Status check_files(const std::string& suite_file, const SuiteCase& one);

}  // namespace ferry::gate
