// Tests compiled modules with each byte changed in turn: they are refused when read, or run without affecting others.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ferry/compile.h"
#include "tests/support/damage.h"

using namespace ferry;

namespace {

using Bytes = std::vector<std::uint8_t>;

const char* const kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";

// Returns the error about the file, or nothing.
std::string refusal(const Bytes& file) {
  try {
    CompiledModule module{file};
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a compiled module with a byte changed or missing is refused with the place") {
  const Bytes file = compile(kTwice, target("host")).bytes();
  for (std::size_t at = 0; at < file.size(); ++at) {
    CAPTURE(at);
    CHECK(refusal(test::with_byte_changed(file, at, 0x01)).find("module: ") == 0);
    CHECK(refusal(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(at))).find("module: offset ") == 0);
  }
}

TEST_CASE("changed bytes under a right hash are refused or computed with, and the device stays of use") {
  Device device = local_device();
  const Bytes file = compile(kTwice, target_of(device)).bytes();
  const std::vector<std::size_t> places = test::places_outside_code(file);
  CHECK(places.size() > 300);
  const std::vector<float> ones(8, 1.0f);
  int read = 0, computed = 0;
  for (const std::size_t at : places) {
    CAPTURE(at);
    const Bytes changed = test::rehashed(test::with_byte_changed(file, at, 0x01));
    if (!refusal(changed).empty()) continue;
    ++read;
    try {
      const CompiledModule module{changed};
      device.load(module)[module.manifest().functions.at(0).name].call({view(ones, {8})});
      ++computed;
    } catch (const Error& error) {
      CHECK(error.what() != std::string());
      if (error.code() == ErrorCode::kernel_crashed) device = local_device();
    }
  }
  MESSAGE(places.size() << " places, " << read << " changes still read as a module, " << computed << " ran");
  CHECK(computed > 0);
  const DeviceTensor twice = device.load(CompiledModule{file})["twice"](ones);
  CHECK(twice.to_vector<float>() == std::vector<float>(8, 2.0f));
}
