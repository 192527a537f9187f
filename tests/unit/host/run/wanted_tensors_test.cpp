#include "host/run/wanted_tensors.h"

#include <doctest/doctest.h>

namespace ferry {
namespace {

TEST_CASE("tensors have files of their own, whatever their names are") {
  const auto files = tensor_file_names({"y", "/a/b", "_a_b", "a:b", "", "..", std::string(300, 'x')});
  CHECK(files.at("y") == "y.npy");
  CHECK(files.at("/a/b") == "_a_b.npy");
  CHECK(files.at("_a_b") == "_a_b_2.npy");
  CHECK(files.at("a:b") == "a_b.npy");
  CHECK(files.at("") == "_.npy");
  CHECK(files.at("..") == "_...npy");
  CHECK(files.at(std::string(300, 'x')) == std::string(200, 'x') + ".npy");
}

}  // namespace
}  // namespace ferry
