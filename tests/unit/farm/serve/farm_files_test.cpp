// What a tracker says of its files.
#include "farm/serve/farm_files.h"

#include <doctest/doctest.h>

#include <string>

namespace ferry::test {
namespace {

TEST_CASE("passwords in the URI of a database are not shown") {
  for (const char* uri :
       {"postgresql://ferry:secret@db/farm", "postgresql://ferry@db/farm?password=secret",
        "postgres://db/farm?user=ferry&password=secret", "postgresql://ferry:a@secret@db/farm?sslmode=require",
        "postgresql://ferry:x@db/farm?password=p@secret"}) {
    CAPTURE(uri);
    CHECK(farm::without_credentials(uri) == "postgresql://db/farm");
  }
  CHECK(farm::without_credentials("postgresql:///farm?host=/run/postgresql") == "postgresql:///farm");
  CHECK(farm::without_credentials("a@b?.db") == "a@b?.db");
}

}  // namespace
}  // namespace ferry::test
