// The history of a case under all its names.
#pragma once

#include <string>
#include <vector>

#include "host/gate/api/suite.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

// Returns the entries of the case, those under its earlier name first.
std::vector<HistoryEntry> case_history(Store& store, const std::string& suite, const SuiteCase& one);

}  // namespace ferry::gate
