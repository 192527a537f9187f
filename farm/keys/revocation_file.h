// The credentials that were revoked, in a file beside the farm's master key. After a backup of the database was
// restored, the file still says what was revoked since, so that it can be revoked again.
//
// A line for each: kind, salt, milliseconds since 1970, id. Bytes of the id that are not printable ASCII, and % and
// spaces, are written as %XX.
//
//     client 000102030405060708090a0b0c0d0e0f 1767225600000 anna
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "farm/keys/derive_key.h"
#include "farm/protocol/queries.h"

namespace ferry::farm {

// The salt tells a key that was revoked from another one that was made for the same id afterwards.
struct Revocation {
  wire::CredentialKind kind = wire::CredentialKind::client;
  std::string id;
  KeySalt salt{};
  std::int64_t at_ms = 0;  // since 1970

  bool operator==(const Revocation&) const = default;
};

class RevocationFile {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxIdBytes = 1024;

  // Opens the file, or makes it, readable by its owner alone. What was being written when the machine stopped, and so
  // was never acknowledged, is removed. Fails with invalid_argument if others may change the file, and with a
  // device_error that names the line if one is damaged.
  static Result<RevocationFile> open(const std::string& path);

  // On disk when this returns. One that is in the file already keeps the time of its first revocation.
  Status add(const Revocation& revocation);

  // In the order in which they were added.
  const std::vector<Revocation>& revocations() const { return revocations_; }

 private:
  RevocationFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  Status read();
  Status append(const std::string& line);
  Status failure(const char* what) const;
  void remember(const Revocation& revocation);

  std::string path_;
  Descriptor file_;
  std::size_t size_ = 0;  // the whole lines together
  std::vector<Revocation> revocations_;
  std::set<std::tuple<wire::CredentialKind, std::string, KeySalt>> known_;
};

}  // namespace ferry::farm
