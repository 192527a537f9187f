#include "host/autoschedule/winograd_choice.h"

#include "crosscompile/target/resolve.h"

#include <doctest/doctest.h>

using namespace ferry;
using autoschedule::winograd_tile;

TEST_CASE("a Winograd convolution whose errors may exceed the limit is not chosen") {
  const Target cpu = resolve_target("x86-64-v4 -l2-bytes=2097152");
  const auto tile = [&](double rms, double largest) {
    return winograd_tile({1, 64, 64, 56, 56}, 16, cpu, {rms, largest});
  };
  CHECK(tile(4, 8) == 4);
  CHECK(tile(2.7, 3) == 4);
  CHECK(tile(2.6, 8) == 2);
  CHECK(tile(4, 2.9) == 2);
  CHECK(tile(0.5, 8) == 0);
  CHECK(tile(0, 0) == 0);
}

TEST_CASE(
    "Winograd convolution is chosen where it saves time, with small tiles where large ones load too many weights") {
  const Target cpu = resolve_target("x86-64-v4 -l2-bytes=2097152");
  CHECK(winograd_tile({1, 64, 64, 56, 56}, 16, cpu) == 4);
  CHECK(winograd_tile({1, 128, 128, 28, 28}, 16, cpu) == 4);
  CHECK(winograd_tile({1, 256, 256, 14, 14}, 16, cpu) == 2);
  CHECK(winograd_tile({1, 512, 512, 7, 7}, 16, cpu) == 2);
  CHECK(winograd_tile({1, 64, 256, 13, 13}, 16, cpu) == 2);
  // More images use the loaded weights again.
  CHECK(winograd_tile({16, 256, 256, 14, 14}, 16, cpu) == 4);
}

TEST_CASE("direct convolution is chosen for few channels, for single pixels and on GPUs") {
  const Target cpu = resolve_target("x86-64-v4 -l2-bytes=2097152");
  CHECK(winograd_tile({1, 3, 32, 224, 224}, 16, cpu) == 0);
  CHECK(winograd_tile({1, 8, 8, 64, 64}, 16, cpu) == 0);
  CHECK(winograd_tile({1, 64, 64, 1, 1}, 16, cpu) == 0);
  CHECK(winograd_tile({1, 0, 64, 7, 7}, 16, cpu) == 0);
  CHECK(winograd_tile({1, 64, 64, 56, 56}, 4, resolve_target("cuda -arch=sm_80")) == 0);
}
