// The records that the lease machine keeps in the store. It emits records to write and acts on them only after it was
// told that they are persisted; after a restart it is rebuilt from a Snapshot.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "farm/core/lease/end_reason.h"
#include "farm/core/lease/request.h"
#include "farm/protocol/lease/lease_terms.h"

namespace ferry::farm {

enum class BoardState : std::uint8_t {
  good,
  unknown,      // not checked since it started
  suspect,      // must pass a health check before it is handed out again
  bad,          // failed health checks repeatedly
  maintenance,  // taken out by an admin
  retired,      // for good
};

const char* board_state_name(BoardState state);

// Replaces the record of the same board.
struct BoardRecord {
  BoardId id{};
  BoardDescription description;
  std::map<std::string, std::string> enrolled_tags;  // also in the description, where they replace what the board says
  // Boards of the same machine exclude each other. Without a name, boards with the same boot id are on one machine.
  std::string machine;
  bool shares_machine = false;  // it may be used together with the others
  BoardState state = BoardState::unknown;
  std::uint64_t boot_id = 0;                          // the one of its last connection; 0: unknown
  std::optional<std::int32_t> baseline_millidegrees;  // when it idles
  lease::Epoch last_epoch = 0;

  FERRY_FIELDS((id), (description), (machine), (shares_machine), (state), (boot_id), (baseline_millidegrees),
               (last_epoch), (enrolled_tags));
};

struct EpochRecord {
  BoardId board{};
  lease::Epoch last_epoch = 0;
};

struct RequestRecord {
  Request request;
  Time submitted;

  FERRY_FIELDS((request, fields::kNested), (submitted));
};

struct LeasePart {
  BoardId board{};
  lease::Epoch epoch = 0;
};

// Replaces the record of the same lease, of which there is also a RequestRecord.
struct LeaseRecord {
  LeaseId id{};
  std::vector<LeasePart> parts;  // one for each slot
  Time start;
  Time end;
  std::uint32_t extension = 0;
  Time set_at;  // when `end` was decided on

  FERRY_FIELDS((id), (start, fields::Column{"starts"}), (end, fields::Column{"ends"}), (extension), (set_at));
};

// Removes the LeaseRecord; the request waits again.
struct RollbackRecord {
  LeaseId id{};
};

// Removes the RequestRecord, and the LeaseRecord if there is one. For the history.
struct EndRecord {
  LeaseId id{};
  Time at;
  EndReason reason = EndReason::released;
  std::string text;
};

// Replaces the record of the same holder.
struct HolderRecord {
  std::string holder;
  double weight = 1;
  double board_seconds = 0;
  Time at;

  FERRY_FIELDS((holder), (weight), (board_seconds), (at));
};

// Replaces the mean length of leases on a board.
struct HoldTimeRecord {
  BoardId board{};
  double mean_seconds = 0;

  FERRY_FIELDS((board), (mean_seconds));
};

using Record = std::variant<BoardRecord, EpochRecord, RequestRecord, LeaseRecord, RollbackRecord, EndRecord,
                            HolderRecord, HoldTimeRecord>;

// All that is current.
struct Snapshot {
  std::vector<BoardRecord> boards;
  std::vector<RequestRecord> requests;
  std::vector<LeaseRecord> leases;
  std::vector<HolderRecord> holders;
  std::vector<HoldTimeRecord> hold_times;
};

}  // namespace ferry::farm
