#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/printable.h"
#include "farm/serve/serve.h"
#include "farm/store/open_connection.h"
#include "farm/store/sqlite_store.h"

namespace ferry::farm {
namespace {

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return one == other || std::filesystem::equivalent(one, other, ignored);
}

}  // namespace

Status back_up(const std::string& database, const std::string& destination) {
  const std::string modules = module_database_of(database), copy = module_database_of(destination);
  if (is_same_file(database, destination) || is_same_file(modules, copy)) {
    return {ErrorCode::invalid_argument,
            format("expected another name for the backup than %s: it or the backup of the modules, %s, would replace a "
                   "database that is in use; take another folder, or a name that differs before its last dot",
                   printable(destination).c_str(), printable(copy).c_str())};
  }
  FERRY_TRY(back_up_sqlite(database, destination));
  if (access(modules.c_str(), F_OK) != 0) return {};
  return back_up_sqlite(modules, copy);
}

}  // namespace ferry::farm
