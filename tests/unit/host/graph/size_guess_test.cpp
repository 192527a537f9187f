#include "host/graph/passes/size_guess.h"

#include <doctest/doctest.h>

#include "tests/support/network_builder.h"

using namespace ferry;
using namespace ferry::graph;

TEST_CASE("estimates take expected sizes for open ones, and guess the others") {
  const Size n = Size::symbol("N"), h = Size::symbol("H"), w = Size::symbol("W"), l = Size::symbol("L");
  test::NetworkBuilder network;
  network.input("image", {n, 3, h, w * 2});
  network.input("text", {n, l});
  const SizeGuess guess(network.graph, {{"H", 50}, {"unused", 3}});
  CHECK(guess.number(7) == 7);
  CHECK(guess.number(0) == 1);
  CHECK(guess.number(h) == 50);
  CHECK(guess.number(floor_divide(h + 1, 2)) == 25);
  CHECK(guess.number(floor_divide(h, 64)) == 1);
  CHECK(guess.number(n) == 1);
  CHECK(guess.number(l) == 16);
  CHECK(guess.number(w) == 16);  // no side of an image by itself
  CHECK(guess.number(h * l) == 800);

  const SizeGuess nothing(network.graph, {});
  CHECK(nothing.number(h) == 224);
  CHECK(SizeGuess().number(h) == 16);
}
