#include "host/gate/store/case_history.h"

namespace ferry::gate {

std::vector<HistoryEntry> case_history(Store& store, const std::string& suite, const SuiteCase& one) {
  std::vector<HistoryEntry> own = store.history(suite, one.name);
  if (one.was.empty()) return own;
  std::vector<HistoryEntry> all = store.history(suite, one.was);
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace ferry::gate
