// Functions with init plans in a module, and a client of a real server that binds and calls them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {

// f(in f32[n] A, const in f32[n] B, out f32[n] C): C = A + P, where the init plan computes P = B.
FunctionInfo copying();
// The same, but its init plan calls a kernel of the kit that does not succeed.
FunctionInfo failing(std::string name, const std::string& symbol);
// The kit with copying and others: doubling (P = B + B), beyond (the same, but P is one element too short), failing and
// crashing (their init plans call kernels of the kit that fail with n, or crash), many (a third of the persistent
// buffers that a session may have, and one more), wide (1000 further constants) and lengthy (calls of many steps).
const Bytes& instance_file();

inline constexpr std::int64_t kSize = 64;

struct InstanceFixture {
  explicit InstanceFixture(const std::vector<std::string>& arguments = {"--memory-limit", "64M"}) : server(arguments) {}

  TestServer server;
  TestClient client{server.port()};
  rpc::Handle module = put(client, instance_file());
  rpc::Handle a = client.upload(std::vector<float>(kSize, 1)), b = client.upload(std::vector<float>(kSize, 10));
  rpc::Handle c = client.upload(std::vector<float>(kSize, 0));

  rpc::Bind bind_of(const std::string& function, rpc::Handle constant) {
    return {client.new_handle(), module, function, {tensor(constant, {kSize})}};
  }
  rpc::Handle bind(const std::string& function, rpc::Handle constant) {
    const rpc::Bind request = bind_of(function, constant);
    client.must(request);
    return request.instance;
  }
  rpc::Call call_of(const std::string& function, rpc::Handle constant, rpc::Handle instance) const {
    return {module, function, {tensor(a, {kSize}), tensor(constant, {kSize}), tensor(c, {kSize})}, instance};
  }
  float result(const rpc::Call& call) {
    client.must(call);
    return client.download<float>(c, kSize)[kSize - 1];
  }
  template <class Request>
  std::string refusal(const Request& request, ErrorCode code = ErrorCode::invalid_argument) {
    const Status status = client.ask(request).status;
    CHECK(status.code() == code);
    return status.message();
  }
};

}  // namespace ferry::test
