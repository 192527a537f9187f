#include "host/gate/store/baseline_file.h"

#include <optional>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/gate/store/store_file.h"
#include "host/gate/store/store_json.h"

namespace ferry::gate {

Baseline read_baseline_file(const std::string& path) {
  const std::optional<std::string> text = read_store_file(path, kMostBaselineBytes);
  if (!text) return {};
  Result<Baseline> baseline = parse_baseline(*text);
  if (!baseline.is_ok()) {
    throw UsageError(
        printable(path) + " is damaged: " + baseline.status().message() +
        "; restore it, from the cache of the CI system for example, or delete it: then the next run stores "
        "a new baseline and compares with none");
  }
  return std::move(baseline.value());
}

void write_baseline_file(const std::string& path, const Baseline& baseline) {
  const std::string text = baseline_text(baseline);
  if (text.size() > kMostBaselineBytes) {
    throw StoreFailed("expected a baseline of at most " + bytes_text(kMostBaselineBytes) + ", got " +
                      bytes_text(text.size()) + ": " + printable(path));
  }
  // Names that are no UTF-8 are not written as they are, and could then be equal.
  if (const Status readable = parse_baseline(text).status(); !readable.is_ok()) {
    throw StoreFailed("cannot write " + printable(path) + ": " + readable.message());
  }
  replace_store_file(path, text);
}

}  // namespace ferry::gate
