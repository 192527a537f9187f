#include "tests/support/farm/random_records.h"

#include <algorithm>
#include <limits>

namespace ferry::test {
namespace {

constexpr const char* kTexts[] = {
    "",
    "ann",
    "it's \"quoted\"; DROP TABLE boards; --",
    "$1 ? %s %n {} \\x00 \\",
    "gr\xc3\xbc\xc3\x9f \xe6\x9d\xbf \xf0\x9f\x9a\xa2",
    "\x1b[2J\x1b]0;title\x07\r\n\t\x7f",
    "\xe2\x80\xae backwards",
    "<script>alert(1)</script>",
};

farm::Selector selector(const std::string& text) { return farm::parse_selector(text).value(); }

// Moves a random element from one list to the end of the other, and returns it.
farm::LeaseId move_one(Random& random, std::vector<farm::LeaseId>& from, std::vector<farm::LeaseId>* to) {
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(random.below(from.size()));
  const farm::LeaseId id = *at;
  from.erase(at);
  if (to != nullptr) to->push_back(id);
  return id;
}

}  // namespace

std::string RandomRecords::name() { return kTexts[random_.below(std::size(kTexts))]; }

std::string RandomRecords::text() { return name() + (random_.once_in(50) ? std::string(5000, 'x') : ""); }

std::uint64_t RandomRecords::number() {
  switch (random_.below(4)) {
    case 0: return 0;
    case 1: return std::numeric_limits<std::uint64_t>::max() - random_.below(3);
    case 2: return (std::uint64_t{1} << 63) - random_.below(2);
  }
  return random_.draw();
}

std::vector<farm::Record> RandomRecords::draw() {
  std::vector<farm::Record> records;
  const std::uint64_t count = random_.below(5);
  for (std::uint64_t i = 0; i < count; ++i) records.push_back(draw_record());
  return records;
}

std::vector<farm::Persist> RandomRecords::commits(farm::TrackerTerm term, std::uint64_t count) {
  std::vector<farm::Persist> commits;
  for (std::uint64_t i = 1; i <= count; ++i) commits.push_back({term, i, draw()});
  return commits;
}

farm::Record RandomRecords::draw_record() {
  switch (random_.below(11)) {
    case 0: return board_record(new_board());
    case 1:
      if (!boards_.empty()) return board_record(boards_[random_.below(boards_.size())]);
      break;
    case 2:
      if (!boards_.empty()) return farm::EpochRecord{boards_.front(), number()};
      break;
    case 3:
      if (!waiting_.empty()) return lease(move_one(random_, waiting_, &leased_));
      break;
    case 4:
      if (!leased_.empty()) return lease(leased_.back());
      break;
    case 5:
      if (!leased_.empty()) return farm::RollbackRecord{move_one(random_, leased_, &waiting_)};
      break;
    case 6:
    case 7: {
      auto& ids = random_.once_in(3) ? waiting_ : leased_;
      if (ids.empty()) break;
      return farm::EndRecord{move_one(random_, ids, nullptr), time(),
                             static_cast<farm::EndReason>(1 + random_.below(15)), text()};
    }
    case 8:
      return farm::HolderRecord{name(), 0.1 * static_cast<double>(random_.below(100)),
                                static_cast<double>(random_.draw()) / 3, time()};
    case 9:
      if (!boards_.empty()) return farm::HoldTimeRecord{boards_.back(), static_cast<double>(random_.draw()) / 7};
      break;
  }
  waiting_.push_back(farm::LeaseId{random_.draw()});
  return farm::RequestRecord{request(waiting_.back()), time()};
}

farm::BoardId RandomRecords::new_board() {
  const farm::BoardId board{number()};
  if (std::find(boards_.begin(), boards_.end(), board) == boards_.end()) boards_.push_back(board);
  return board;
}

farm::BoardRecord RandomRecords::board_record(farm::BoardId board) {
  farm::BoardRecord record;
  record.id = board;
  record.description = description();
  record.machine = text();
  record.shares_machine = random_.once_in(2);
  record.state = static_cast<farm::BoardState>(random_.below(6));
  record.boot_id = number();
  if (random_.once_in(2)) record.baseline_millidegrees = static_cast<std::int32_t>(random_.below(90'000)) - 20'000;
  record.last_epoch = number();
  for (std::uint64_t i = random_.below(3); i > 0; --i) record.enrolled_tags[text()] = text();
  return record;
}

farm::BoardDescription RandomRecords::description() {
  farm::BoardDescription description{text(), text(), "aarch64", text(), number(), 4, {}, {}, {}};
  for (std::uint64_t i = random_.below(3); i > 0; --i) {
    description.features.push_back(text());
    description.devices.push_back({"cuda", text()});
    description.tags[text()] = text();
  }
  return description;
}

farm::Request RandomRecords::request(farm::LeaseId id) {
  constexpr const char* kSelectors[] = {"rpi4", "tag:bench, memory>=2G, arch=aarch64", "cuda -arch=sm_90",
                                        "cores>=4,cores!=5"};
  farm::Request request{id, name(), {}, static_cast<std::uint32_t>(random_.below(101))};
  for (std::uint64_t i = random_.below(3) + 1; i > 0; --i)
    request.slots.push_back(selector(kSelectors[random_.below(std::size(kSelectors))]));
  request.length = farm::Duration(random_.below(30'000'000));
  request.wait = farm::Duration(random_.below(30'000'000));
  request.kind = static_cast<farm::LeaseKind>(random_.below(2));
  request.is_health_check = random_.once_in(5);
  return request;
}

farm::LeaseRecord RandomRecords::lease(farm::LeaseId id) {
  farm::LeaseRecord record{id, {}, time(), time(), static_cast<std::uint32_t>(random_.below(9)), time()};
  const std::size_t count = std::min<std::size_t>(boards_.size(), 1 + random_.below(3));
  const std::size_t first = boards_.empty() ? 0 : random_.below(boards_.size());
  for (std::size_t i = 0; i < count; ++i) record.parts.push_back({boards_[(first + i) % boards_.size()], number()});
  return record;
}

}  // namespace ferry::test
