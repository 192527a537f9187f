// Tests of shortening the names of steps.
#include "host/kernel/node_names.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("a short name of a step stays as it is") {
  CHECK(short_node_name("/conv1/Conv+Relu") == "/conv1/Conv+Relu");
  CHECK(short_node_name("").empty());
}

TEST_CASE("a long name of a step is that of its first and last node, and tells how many there are") {
  std::string name = "/layer1/layer1.0/conv1/Conv_quant";
  for (int i = 0; i < 20; ++i) name += "+DequantizeLinear_" + std::to_string(i);
  CHECK(short_node_name(name) == "/layer1/laye...1/Conv_quant+...+DequantizeLinear_19 (21 nodes)");
  const std::string two(40, 'a');
  CHECK(short_node_name(two + "+" + two) == std::string(12, 'a') + "..." + std::string(12, 'a') + "+" +
                                                std::string(12, 'a') + "..." + std::string(12, 'a'));
  CHECK(short_node_name(std::string(300, 'b')) == std::string(26, 'b') + "..." + std::string(26, 'b'));
}
