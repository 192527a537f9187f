#include "farm/keys/master_key.h"

#include <filesystem>
#include <system_error>

#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

namespace fs = std::filesystem;

// Whether both paths lead to one file, which need not exist.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path first = fs::weakly_canonical(a, error), second = fs::weakly_canonical(b, error);
  return !first.empty() && first == second;
}

}  // namespace

Result<secure::Key> open_master_key(const std::string& path, const std::string& database, IfMissing if_missing) {
  if (!database.empty()) {
    for (const char* suffix : {"", "-wal", "-shm", "-journal", ".unfinished"}) {
      if (is_same_file(path, database + suffix))
        return Status(ErrorCode::invalid_argument,
                      format("expected a file for the farm's master key apart from its database, got %s",
                             printable(path).c_str()));
    }
  }
  Result<secure::Key> key = secure::read_key_file(path);
  if (key.is_ok() || key.status().code() != ErrorCode::not_found) return key;
  if (if_missing == IfMissing::refuse)
    return Status(ErrorCode::not_found,
                  format("there is no master key in %s, but the farm has credentials that derive from it; restore the "
                         "file from where it is kept",
                         printable(path).c_str()));
  // Another tracker that starts at the same time may make it first.
  const Status made = secure::write_key_file(path, secure::make_key());
  key = secure::read_key_file(path);
  return key.is_ok() || made.is_ok() ? std::move(key) : Result<secure::Key>(made);
}

}  // namespace ferry::farm
