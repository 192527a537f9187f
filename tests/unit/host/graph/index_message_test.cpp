#include "host/graph/plan/index_message.h"

#include <doctest/doctest.h>

#include <vector>

namespace ferry::graph {
namespace {

const std::vector<std::string> kTensors = {"table", "ids", ""};

TEST_CASE("an index that is out of bounds is told by the names of the tensors") {
  CHECK(in_words_of_network(
            "'y' reads 'x0' outside its shape: expected select(x1[i0] < 0, x1[i0] + 4, x1[i0]) as index 1 "
            "to stay within 0:4",
            kTensors) == "an index in 'ids' is outside of the 4 entries of 'table'");
  CHECK(in_words_of_network("'y' reads 'x0' outside its shape: expected max1[i0] as index 1 to stay within 0:n0",
                            kTensors) == "an index is outside of 'table'");
}

TEST_CASE("other messages, and those about tensors without names, stay as they are") {
  for (const char* message : {"'y' reads 'x2' outside its shape: expected x1[i0] as index 1 to stay within 0:4",
                              "'y' reads 'x9' outside its shape: expected x1[i0] as index 1 to stay within 0:4",
                              "'y' is updated outside its shape: expected x1[i0] as index 1 to stay within 0:4",
                              "'y' reads 'x0' outside its shape", "n must be at least 1", ""})
    CHECK(in_words_of_network(message, kTensors) == message);
}

}  // namespace
}  // namespace ferry::graph
