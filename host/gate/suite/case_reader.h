// Reads the keys of a case, each of which is checked as the command line checks the option that it stands for.
#pragma once

#include "host/gate/api/suite.h"
#include "host/toml/toml_reader.h"

namespace ferry::gate {

// The keys that may stand at the top of a suite as well.
void read_shared(TomlReader& reader, SuiteCase& one);
// These and the others. `one` holds what it gets where a key is missing.
void read_case(TomlReader& reader, SuiteCase& one);

}  // namespace ferry::gate
