#include "farm/store/modules/object_tables.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace ferry::farm {
namespace {

// Pieces, of 64 MiB together, so that a statement's time suffices however many there are.
constexpr std::size_t kDeletedAtOnce = 256;

// Objects of which the oldest are looked at together.
constexpr std::size_t kLookedAt = 1000;

// Finds the objects that are neither needed nor in use.
constexpr const char* kMayBeDeleted =
    " FROM objects WHERE used < $1 AND NOT EXISTS (SELECT 1 FROM baseline_objects WHERE object = hash)";

Status damaged(const Hash& object) {
  return {ErrorCode::device_error,
          "the farm's database of modules is damaged: it lacks a part of the object " + to_hex(object)};
}

}  // namespace

Result<bool> touch_object(SqlConnection& connection, const Hash& object, Time now) {
  FERRY_ASSIGN(const SqlResult touched,
               execute(connection, "UPDATE objects SET used = $1 WHERE hash = $2", now, to_hex(object)));
  return touched.changed == 1;
}

Result<bool> has_object(SqlConnection& connection, const Hash& object) {
  FERRY_ASSIGN(const SqlResult found, execute(connection, "SELECT bytes FROM objects WHERE hash = $1", to_hex(object)));
  return !found.rows.empty();
}

Status write_piece(SqlConnection& connection, UploadId upload, std::uint64_t number, const SqlBytes& piece) {
  return execute(connection, "INSERT INTO pieces (upload, number, contents) VALUES ($1, $2, $3)", upload, number, piece)
      .status();
}

Status add_object(SqlConnection& connection, const Hash& object, UploadId upload, std::uint64_t bytes, Time now) {
  FERRY_ASSIGN(const bool is_known, touch_object(connection, object, now));
  if (is_known) return delete_pieces(connection, upload);
  FERRY_ASSIGN(
      const SqlResult sum,
      execute(connection, "SELECT CAST(COALESCE(SUM(LENGTH(contents)), 0) AS BIGINT) FROM pieces WHERE upload = $1",
              upload));
  FERRY_ASSIGN(const std::uint64_t written, only_number(sum));
  if (written != bytes) return {ErrorCode::aborted, "the upload was cut off; send the object again"};
  FERRY_ASSIGN(const SqlResult counted, execute(connection, "SELECT COUNT(*) FROM objects"));
  FERRY_ASSIGN(const std::uint64_t count, only_number(counted));
  if (count >= kMostObjects) {
    return {ErrorCode::resource_exhausted,
            format("the farm keeps at most %llu objects", static_cast<unsigned long long>(kMostObjects))};
  }
  return execute(connection, "INSERT INTO objects (hash, upload, bytes, used) VALUES ($1, $2, $3, $4)", to_hex(object),
                 upload, bytes, now)
      .status();
}

Status delete_pieces(SqlConnection& connection, UploadId upload) {
  return execute(connection,
                 "DELETE FROM pieces WHERE upload = $1 AND NOT EXISTS "
                 "(SELECT 1 FROM objects WHERE objects.upload = pieces.upload)",
                 upload)
      .status();
}

Result<bool> delete_some_left_over(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult left_over,
               execute(connection,
                       "SELECT upload, number FROM pieces WHERE NOT EXISTS "
                       "(SELECT 1 FROM objects WHERE objects.upload = pieces.upload) LIMIT $1",
                       kDeletedAtOnce));
  for (const SqlRow& columns : left_over.rows) {
    RowReader row(columns);
    const auto upload = row.number<UploadId>();
    const auto number = row.number<std::uint64_t>();
    FERRY_TRY(row.status());
    FERRY_TRY(execute(connection, "DELETE FROM pieces WHERE upload = $1 AND number = $2", upload, number).status());
  }
  return left_over.rows.size() == kDeletedAtOnce;
}

Result<std::optional<StoredPiece>> read_piece(SqlConnection& connection, const Hash& object, std::uint64_t offset) {
  FERRY_ASSIGN(const SqlResult found,
               execute(connection, "SELECT upload, bytes FROM objects WHERE hash = $1", to_hex(object)));
  if (found.rows.empty()) return std::optional<StoredPiece>();
  StoredPiece stored;
  RowReader row(found.rows.front());
  const auto upload = row.number<UploadId>();
  stored.object_bytes = row.number<std::uint64_t>();
  FERRY_TRY(row.status());
  if (offset >= stored.object_bytes) return std::optional(std::move(stored));
  FERRY_ASSIGN(const SqlResult contents,
               execute(connection, "SELECT contents FROM pieces WHERE upload = $1 AND number = $2", upload,
                       offset / kPieceBytes));
  if (contents.rows.empty()) return damaged(object);
  RowReader piece(contents.rows.front());
  stored.piece = piece.bytes();
  FERRY_TRY(piece.status());
  const std::size_t skipped = offset % kPieceBytes;
  if (skipped >= stored.piece.size()) return damaged(object);
  stored.piece.erase(stored.piece.begin(), stored.piece.begin() + static_cast<std::ptrdiff_t>(skipped));
  return std::optional(std::move(stored));
}

Result<std::uint64_t> bytes_of_objects(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult sum, execute(connection, "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM objects"));
  return only_number(sum);
}

Result<std::uint64_t> bytes_to_keep(SqlConnection& connection, Time since) {
  FERRY_ASSIGN(const std::uint64_t all, bytes_of_objects(connection));
  FERRY_ASSIGN(
      const SqlResult sum,
      execute(connection, std::string("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT)") + kMayBeDeleted, since));
  FERRY_ASSIGN(const std::uint64_t others, only_number(sum));
  return all - others;
}

Result<std::uint64_t> delete_oldest(SqlConnection& connection, std::uint64_t most, Time since) {
  FERRY_ASSIGN(std::uint64_t left, bytes_of_objects(connection));
  while (left > most) {
    FERRY_ASSIGN(
        const SqlResult oldest,
        execute(connection, std::string("SELECT hash, upload, bytes") + kMayBeDeleted + " ORDER BY used, hash LIMIT $2",
                since, kLookedAt));
    if (oldest.rows.empty()) break;
    for (const SqlRow& columns : oldest.rows) {
      if (left <= most) break;
      RowReader row(columns);
      const std::string hash = row.text();
      const auto upload = row.number<UploadId>();
      const auto bytes = row.number<std::uint64_t>();
      FERRY_TRY(row.status());
      FERRY_TRY(execute(connection, "DELETE FROM objects WHERE hash = $1", hash).status());
      FERRY_TRY(delete_pieces(connection, upload));
      left -= std::min(left, bytes);
    }
  }
  return left;
}

}  // namespace ferry::farm
