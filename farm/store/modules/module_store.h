// Answers the requests of farm/protocol/modules.h from a database.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/hash_stream.h"
#include "farm/protocol/modules.h"
#include "farm/store/modules/object_tables.h"

namespace ferry::farm {

// Objects that were used so recently belong to a run that goes on.
inline constexpr std::chrono::hours kModuleInUse{1};

// For one thread. Failures: invalid_argument for what a request says, resource_exhausted if the quota or the disk is
// full, not_found for an object that the farm does not have, otherwise as Store's (farm/store/store.h).
class ModuleStore {
 public:
  // Whoever sends an object: one connection.
  using Sender = std::uint64_t;

  // Creates the tables if there are none. `quota` is the limit for the bytes of all objects and
  // verdicts together.
  static Result<std::unique_ptr<ModuleStore>> open(std::unique_ptr<SqlConnection> connection, std::uint64_t quota);
  ~ModuleStore();

  // The objects that are found do not count as used.
  struct FindUnused {
    wire::FindObjects request;
  };
  Result<wire::ObjectsFound> answer(Sender sender, const FindUnused& query);
  Result<wire::ObjectsFound> answer(Sender sender, const wire::FindObjects& request);
  Result<wire::ObjectTaken> answer(Sender sender, const wire::PutObject& request);
  Result<wire::ObjectPiece> answer(Sender sender, const wire::GetObject& request);
  Result<wire::ObjectsTrimmed> answer(Sender sender, const wire::TrimObjects& request);
  Result<wire::BaselinePage> answer(Sender sender, const wire::ListBaseline& request);
  Result<wire::BaselineNames> answer(Sender sender, const wire::ListBaselines& request);
  // `holder` is whose key the sender has.
  struct SetBaselineOf {
    wire::SetBaseline request;
    std::string holder;
  };
  Result<wire::BaselineSet> answer(Sender sender, const SetBaselineOf& set);
  Result<wire::BaselineDeleted> answer(Sender sender, const wire::DeleteBaseline& request);
  Result<wire::CasesDeleted> answer(Sender sender, const wire::DeleteCases& request);
  Result<wire::VerdictPage> answer(Sender sender, const wire::ListVerdicts& request);
  struct AddVerdictOf {
    wire::AddVerdict request;
    std::string holder;
  };
  Result<wire::VerdictAdded> answer(Sender sender, const AddVerdictOf& verdict);

  // Drops what the sender has not finished.
  void forget(Sender sender);
  // Deletes what was dropped while that could not be deleted. Does nothing if it still cannot be.
  void delete_dropped();
  // Drops what all have not finished, without deleting it.
  void drop_uploads();
  // Deletes what was dropped, also by earlier trackers of the database. Nobody may be sending meanwhile.
  Status delete_left_over();
  bool has_uploads() const { return !uploads_.empty(); }

 private:
  // An object of which pieces have arrived.
  struct Upload {
    Hash object{};
    UploadId id{};
    std::uint64_t bytes = 0;
    std::uint64_t reserved = 0;  // part of the quota
    std::uint64_t received = 0;
    std::uint64_t pieces = 0;      // written
    bool may_have_pieces = false;  // in the database, also where it is not known whether one was written
    SqlBytes unwritten;
    HashStream hash;
    std::chrono::steady_clock::time_point heard;
  };

  ModuleStore(std::unique_ptr<SqlConnection> connection, std::uint64_t quota);

  Result<Upload*> begin_upload(Sender sender, const wire::PutObject& request);
  Status take_piece(Upload& upload, const SqlBytes& piece);
  Result<wire::ObjectTaken> finish_upload(Upload& upload);
  Status no_room(std::uint64_t bytes, std::uint64_t taken) const;
  // Forgets idle uploads, and returns what the others have reserved.
  std::uint64_t reserved_bytes();
  // Whether an object of so many bytes may fit once others are deleted.
  Status expect_room(std::uint64_t bytes);
  // Whether there is room for some more on the disk.
  Status expect_disk();
  // Makes room for more of the upload.
  Status reserve(Upload& upload);

  std::unique_ptr<SqlConnection> connection_;
  const std::uint64_t quota_;
  std::vector<UploadId> dropped_;  // with pieces that are to be deleted
  std::map<Sender, Upload> uploads_;
};

}  // namespace ferry::farm
