// Measurements whose calls get inputs that they have not seen.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

inline std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 1000) - 3);
  return values;
}

struct FreshInputs {
  TestServer server;
  TestClient client;
  rpc::Handle module;
  explicit FreshInputs(const std::vector<std::string>& arguments = {"--threads", "2", "--sessions", "1"})
      : server(arguments), client(server.port()), module(put(client, kit_file())) {}

  rpc::Evaluate evaluation(const std::string& function, std::vector<rpc::Argument> arguments) const {
    rpc::Evaluate request;
    request.calls = {{module, function, std::move(arguments)}};
    request.options = {.number = 10, .repeat = 12, .min_repeat_ms = 0, .warmup_ms = 0};
    request.options.poison = {7, 7};
    request.options.isolated = request.options.fresh_inputs = true;
    return request;
  }
};

inline bool is_isolated(const TimingEnvironment& environment) { return environment.isolation != TimingIsolation::none; }

inline void check_right(const Samples& samples) {
  CHECK(samples.inspected);
  CHECK(samples.unwritten == 0);
  CHECK(samples.changed == 0);
}

}  // namespace ferry::test
