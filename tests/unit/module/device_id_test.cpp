#include "module/device_id.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;

TEST_CASE("a device is named by its kind and, after a colon, its index") {
  struct Case {
    const char* name;
    DeviceId device;
    const char* text;
  };
  const Case cases[] = {
      {"cpu", {DeviceKind::cpu, 0}, "cpu"},
      {"cuda", {DeviceKind::cuda, 0}, "cuda"},
      {"cuda:0", {DeviceKind::cuda, 0}, "cuda"},
      {"cuda:1", {DeviceKind::cuda, 1}, "cuda:1"},
      {"opencl", {DeviceKind::opencl, 0}, "opencl"},
      {"opencl:999", {DeviceKind::opencl, 999}, "opencl:999"},
      {"opencl:07", {DeviceKind::opencl, 7}, "opencl:7"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    const Result<DeviceId> parsed = parse_device_id(c.name);
    REQUIRE(parsed.is_ok());
    CHECK(parsed.value() == c.device);
    CHECK(to_text(parsed.value()) == c.text);
    CHECK(parse_device_id(to_text(c.device)).value() == c.device);
  }
}

TEST_CASE("a name with an unknown kind is a device that no machine has") {
  for (const char* name : {"", "abacus", "abacus:1", ":1", "CUDA", "cud", "cudas", " cuda", "cuda ", "any"}) {
    const Status status = parse_device_id(name).status();
    CHECK(status.code() == ErrorCode::unsupported);
    CHECK(status.message() == "expected a device such as cuda or opencl:1, got '" + std::string(name) + "'");
    CHECK_FALSE(device_kind_named(name).has_value());
  }
}

TEST_CASE("the index of a device is a number of one to three digits") {
  for (const char* index :
       {"", "x", "1x", "-1", "+1", " 1", "1 ", "1000", "0001", "99999999999999999999", "0:1", "1.5"}) {
    const Status status = parse_device_id("cuda:" + std::string(index)).status();
    CHECK(status.code() == ErrorCode::invalid_argument);
    CHECK(status.message() == "expected the number of a device after 'cuda:', got '" + std::string(index) + "'");
  }
}

TEST_CASE("each kind of device is found by its name") {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::opencl})
    CHECK(device_kind_named(device_kind_name(kind)) == kind);
}
