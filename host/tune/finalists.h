// The best points of a search, one of which is compared with the default schedule in the end.
#pragma once

#include "host/compiler/api/space_point.h"
#include "host/tune/builder/builder.h"
#include "host/tune/runner/runner.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace ferry::tune {

struct Finalist {
  SpacePoint point;
  std::shared_ptr<const ModuleBytes> module;  // null: an earlier run built it
  double log_share = 0;                       // logarithm of its time as a share of the default's
};

class Finalists {
 public:
  // Keeps the best, each point once.
  void add(Finalist one);
  // Builds what is not built yet and measures all again, in turns with the default and in processes of their own: what
  // they took when they were tried depends on what else the device did then, and on where memory was, and the best of
  // many measurements is often a lucky one. Leaves out what cannot be built or run any more. Returns the seconds that
  // the default took; nothing if nothing was measured. Everything is measured once; another round begins only if it
  // would end before `until` when it takes as long as the last.
  std::optional<double> rank(Builder& builder, Runner& runner, const ModuleBytes& default_module,
                             std::optional<std::chrono::steady_clock::time_point> until = {});
  // Returns the best; null if none was faster than the default.
  const Finalist* best() const;
  // The fastest first.
  const std::vector<Finalist>& all() const { return all_; }

 private:
  std::vector<Finalist> all_;
};

}  // namespace ferry::tune
