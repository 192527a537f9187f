// Random records that a lease machine could have written, with texts that a store must not misunderstand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "farm/core/lease/actions.h"
#include "tests/support/farm/world.h"

namespace ferry::test {

class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  // Returns the records of one commit, sometimes none.
  std::vector<farm::Record> draw();
  // The commits 1 to `count` of a term.
  std::vector<farm::Persist> commits(farm::TrackerTerm term, std::uint64_t count);

  // Quotes, escapes, other scripts; a text is sometimes long.
  std::string name();
  std::string text();
  // Also the largest ones.
  std::uint64_t number();
  farm::Time time() { return farm::Time(farm::Duration(static_cast<std::int64_t>(random_.below(1ULL << 42)))); }

 private:
  farm::Record draw_record();
  farm::BoardId new_board();
  farm::BoardRecord board_record(farm::BoardId board);
  farm::BoardDescription description();
  farm::Request request(farm::LeaseId id);
  farm::LeaseRecord lease(farm::LeaseId id);

  Random random_;
  std::vector<farm::BoardId> boards_;
  std::vector<farm::LeaseId> waiting_, leased_;
};

}  // namespace ferry::test
