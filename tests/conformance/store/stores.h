// A list of all stores, so that one suite runs over all of them: a new one is added here and conforms once the suite
// passes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "farm/store/store.h"

namespace ferry::test {

// An empty database, which is deleted with this object.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;
  // Opens it, once more too.
  virtual std::unique_ptr<farm::Store> open() = 0;
};

struct StoreKind {
  std::string name;
  bool is_database;  // it can be opened again, and refuses what it cannot hold
  std::unique_ptr<StoreFixture> (*make)();
};

const std::vector<StoreKind>& all_stores();
// Those that keep what they hold when they are closed.
std::vector<StoreKind> all_databases();

}  // namespace ferry::test
