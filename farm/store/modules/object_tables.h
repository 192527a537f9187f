// Objects by their hash, in pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "farm/store/sql_connection.h"
#include "ferry/hash.h"

namespace ferry::farm {

// Every piece of an object but the last one has so many bytes.
inline constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

// However small they are, each takes a few hundred bytes beside its contents.
inline constexpr std::uint64_t kMostObjects = 200'000;

// A number that nothing else has been uploaded under.
enum class UploadId : std::uint64_t {};

// All of them require a transaction, and those that change something a writing one.

// Returns whether there is such an object, which counts as used now.
Result<bool> touch_object(SqlConnection& connection, const Hash& object, Time now);

Result<bool> has_object(SqlConnection& connection, const Hash& object);

Status write_piece(SqlConnection& connection, UploadId upload, std::uint64_t number, const SqlBytes& piece);
// Makes the pieces of the upload an object, or deletes them if there is one already. Fails with aborted if pieces have
// been lost, and with resource_exhausted if the farm has kMostObjects.
Status add_object(SqlConnection& connection, const Hash& object, UploadId upload, std::uint64_t bytes, Time now);
// Does nothing if they are an object's: a commit that failed may have been carried out.
Status delete_pieces(SqlConnection& connection, UploadId upload);
// Deletes some pieces of uploads without an object. Returns whether there may be more of them.
Result<bool> delete_some_left_over(SqlConnection& connection);

struct StoredPiece {
  std::uint64_t object_bytes = 0;
  SqlBytes piece;
};
// Returns the rest, from `offset` on, of the piece that contains it: nothing if there is no such object, and an empty
// piece at its end and beyond. Fails with device_error if the piece is missing.
Result<std::optional<StoredPiece>> read_piece(SqlConnection& connection, const Hash& object, std::uint64_t offset);

// Returns the sum of the sizes of all objects.
Result<std::uint64_t> bytes_of_objects(SqlConnection& connection);
// The same of those that a baseline needs or that were used since then.
Result<std::uint64_t> bytes_to_keep(SqlConnection& connection, Time since);
// Deletes the others, the oldest first, until all have `most` bytes together. Returns what is left.
Result<std::uint64_t> delete_oldest(SqlConnection& connection, std::uint64_t most, Time since);

}  // namespace ferry::farm
