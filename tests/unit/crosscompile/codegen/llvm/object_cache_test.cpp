// Tests objects that were compiled before.
#include "crosscompile/codegen/llvm/object_cache.h"

#include <doctest/doctest.h>

using namespace ferry;
using codegen::ObjectCache;

TEST_CASE("an object is found by its own key, until enough others came after it") {
  ObjectCache cache;
  CHECK_FALSE(cache.find(Hash{1}));
  cache.add(Hash{1}, {1, 2, 3});
  cache.add(Hash{2}, {4});
  CHECK(cache.find(Hash{1}) == ObjectCache::Object{1, 2, 3});
  CHECK(cache.find(Hash{2}) == ObjectCache::Object{4});
  CHECK_FALSE(cache.find(Hash{3}));
  for (std::uint8_t i = 3; i < 34; ++i) cache.add(Hash{i}, {i});
  CHECK_FALSE(cache.find(Hash{1}));
  CHECK(cache.find(Hash{2}) == ObjectCache::Object{4});
}
