// Tests of tensors of the local server that lie in memory which this process has mapped too.
#include "host/client/shared_tensors.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "ferry/compile.h"
#include "host/client/connect/local_server.h"
#include "host/client/direct_call.h"
#include "host/client/state.h"
#include "rpc/transport/socket.h"
#include "tests/unit/host/client/error_of.h"
#include "tests/unit/host/client/scripted_server.h"

using namespace ferry;
using session::SharedObject;
using session::SharedTensors;
using test::error_of;

namespace {

constexpr std::int64_t kElements = 100'003;
constexpr std::uint64_t kBytes = kElements * sizeof(float);

std::vector<float> ramp(float first) {
  std::vector<float> values(kElements);
  std::iota(values.begin(), values.end(), first);
  return values;
}

const float* shared_floats(const DeviceTensor& tensor) {
  return reinterpret_cast<const float*>(session::address_of(tensor));
}

Module loaded(const Device& device) {
  return device.load(compile("def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }", target_of(device)));
}

// A session of a server that shares an object, without the handles of ferry/client.h.
struct RawSession {
  std::unique_ptr<SharedObject> object = SharedObject::make();
  session::LocalServer server{session::find_rpc_server(), {}, object->descriptor()};
  session::Client client{{value_or_throw(wrap_socket(server.take_socket()))}, "the server"};

  ErrorCode refusal(const rpc::AllocShared& request) {
    return error_of([&] { client.call(request); }).code();
  }
};

// A device of this machine whose sessions may hold 64 MiB.
Device small_device() {
  auto state = std::make_shared<detail::DeviceState>();
  auto object = SharedObject::make();
  auto server = std::make_unique<session::LocalServer>(
      session::find_rpc_server(), std::vector<std::string>{"--memory-limit", "64M"}, object->descriptor());
  state->client = std::make_unique<session::Client>(
      session::OpenedTransport(value_or_throw(wrap_socket(server->take_socket()))), "it");
  state->shared = std::make_unique<SharedTensors>(std::move(object));
  state->server = std::move(server);
  return detail::Access::device(std::move(state));
}

}  // namespace

TEST_CASE("what the local server computes is read where it lies, and what is put there is copied once") {
  const Device device = local_device();
  const Module module = loaded(device);
  const std::vector<float> a = ramp(0), b = ramp(0.5F);
  const DeviceTensor on_device = device.put(view(a, {kElements}));
  REQUIRE(session::address_of(on_device) != nullptr);
  CHECK(std::memcmp(session::address_of(on_device), a.data(), kBytes) == 0);
  const DeviceTensor sum = module["add"](on_device, view(b, {kElements}));
  const float* const floats = shared_floats(sum);
  REQUIRE(floats != nullptr);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(floats[i] == a[i] + b[i]);
  CHECK(sum.to_vector<float>() == std::vector<float>(floats, floats + kElements));
  // A later call writes to the same memory, and reads what this process has written there.
  *const_cast<float*>(shared_floats(on_device) + 7) = 1000;
  module["add"].call({on_device, view(b, {kElements}), sum});
  CHECK(shared_floats(sum) == floats);
  CHECK(floats[7] == 1007.5F);
}

TEST_CASE("a write to a shared tensor is seen by the calls after it alone") {
  const Device device = local_device();
  const Module module = loaded(device);
  const std::vector<float> a = ramp(0), b = ramp(3);
  DeviceTensor x = device.put(view(a, {kElements}));
  const DeviceTensor before = module["add"](x, x);
  x.write(b.data());
  const DeviceTensor after = module["add"](x, x);
  CHECK(shared_floats(before)[kElements - 1] == 2 * a.back());
  CHECK(shared_floats(after)[kElements - 1] == 2 * b.back());
}

TEST_CASE("small tensors, large ones, guarded ones and those of other servers are not shared") {
  const Device device = local_device();
  CHECK(session::address_of(device.empty(DType::f32, {100})) == nullptr);
  CHECK(session::address_of(small_device().empty(DType::u8, {8 << 20})) == nullptr);
  CHECK(session::address_of(small_device().empty(DType::u8, {(8 << 20) - 1})) != nullptr);
  ConnectOptions guarded;
  guarded.guard_tensors = true;
  CHECK(session::address_of(local_device(guarded).empty(DType::f32, {kElements})) == nullptr);
}

TEST_CASE("parts are used again once the server has freed them, and tensors without contents are zero") {
  const Device device = local_device();
  const std::vector<float> values = ramp(1);
  std::vector<const float*> places;
  for (int i = 0; i < 6; ++i) {
    const DeviceTensor tensor = device.put(view(values, {kElements}));
    places.push_back(shared_floats(tensor));
    CHECK(places.back()[kElements - 1] == values.back());
  }
  std::ranges::sort(places);
  CHECK(std::ranges::unique(places).size() >= 3);
  const float* const zeros = shared_floats(device.empty(DType::f32, {kElements}));
  CHECK(std::ranges::binary_search(places, zeros));
  CHECK(std::all_of(zeros, zeros + kElements, [](float one) { return one == 0; }));
}

TEST_CASE("a part is not used again while a request that was sent before may still use it") {
  const Device device = local_device();
  const std::vector<float> values = ramp(1), others = ramp(-7);
  for (int i = 0; i < 50; ++i) {
    const DeviceTensor copy = device.empty(DType::f32, {kElements});
    device.put(view(values, {kElements})).copy_to(copy);
    const DeviceTensor next = device.put(view(others, {kElements}));
    REQUIRE(copy.to_vector<float>() == values);
    REQUIRE(next.to_vector<float>() == others);
  }
}

TEST_CASE("memory beyond what is kept goes back to the system, and its addresses are used again") {
  const Device device = local_device();
  const auto bytes = static_cast<std::int64_t>(device.facts().memory_limit_bytes / 10);
  // They have more bytes in all than the object, almost none of which are touched.
  const auto object = SharedObject::make();
  const auto times =
      static_cast<std::int64_t>((object->end() - object->begin()) / static_cast<std::uint64_t>(bytes)) + 3;
  for (std::int64_t i = 0; i < times; ++i) {
    const DeviceTensor tensor = device.empty(DType::u8, {bytes - 65536 * (i % 100)});
    REQUIRE(session::address_of(tensor) != nullptr);
  }
}

TEST_CASE("a large tensor gets the memory of buffers that were kept") {
  const Device device = small_device();
  device.empty(DType::u8, {4 << 20});
  const DeviceTensor large = device.empty(DType::u8, {62 << 20});
  device.synchronize();
}

TEST_CASE("the contents of a tensor that a failed call should have written are not shown") {
  const Device device = local_device();
  const Module module = loaded(device);
  const DeviceTensor out = device.empty(DType::f32, {kElements});
  const DeviceTensor never = device.empty(DType::f32, {std::int64_t{1} << 50});
  CHECK(error_of([&] {
          device.state()->client->call(
              rpc::Copy{detail::Access::state(out).handle, 0, detail::Access::state(never).handle, 0, kBytes});
        }).code() == ErrorCode::resource_exhausted);
  CHECK(error_of([&] { session::address_of(out); }).code() == ErrorCode::resource_exhausted);
  CHECK(error_of([&] { out.to_vector<float>(); }).code() == ErrorCode::resource_exhausted);
}

TEST_CASE("memory of a session that has ended can still be read") {
  std::optional<Device> device = local_device();
  const std::vector<float> values = ramp(2);
  const DeviceTensor tensor = device->put(view(values, {kElements}));
  const float* const floats = shared_floats(tensor);
  device->state()->client->close();
  device.reset();
  CHECK(std::vector<float>(floats, floats + kElements) == values);
}

TEST_CASE("a server that does not know the message gets tensors over the connection") {
  std::vector<std::uint64_t> allocated;
  int asked = 0;
  test::ScriptedServer server([&](test::ScriptedServer& s) {
    rpc::OpenReply reply;
    reply.version = 1;
    reply.facts.memory_limit_bytes = std::uint64_t{1} << 30;
    s.answer(s.receive(), reply);
    for (test::Request request = s.receive(); request.header.request != 0; request = s.receive()) {
      const auto tag = static_cast<rpc::Tag>(request.header.tag);
      if (tag == rpc::Tag::AllocShared) {
        ++asked;
        s.refuse(request, ErrorCode::unsupported, "this server does not know messages of tag 45");
        continue;
      }
      if (tag == rpc::Tag::Alloc) allocated.push_back(request.as<rpc::Alloc>().bytes);
      s.answer(request, rpc::Empty{});
    }
  });
  auto state = std::make_shared<detail::DeviceState>();
  state->client = std::make_unique<session::Client>(session::OpenedTransport(server.client_end()), "an older server");
  state->shared = std::make_unique<SharedTensors>(SharedObject::make());
  const Device device = detail::Access::device(state);
  for (int i = 0; i < 2; ++i) CHECK(session::address_of(device.empty(DType::f32, {kElements})) == nullptr);
  state->client->call(rpc::Ping{});
  CHECK(allocated == std::vector<std::uint64_t>(2, kBytes));
  CHECK(asked == 1);
}

TEST_CASE("nobody can change the size of the object, and a server maps none but the client's part of it") {
  RawSession session;
  const SharedObject& object = *session.object;
  struct stat info{};
  REQUIRE(fstat(object.descriptor(), &info) == 0);
  CHECK(static_cast<std::uint64_t>(info.st_size) == object.end());
  for (const std::uint64_t size : {std::uint64_t{0}, object.end() - 4096, object.end() + 4096})
    CHECK((ftruncate(object.descriptor(), static_cast<off_t>(size)) != 0 && errno == EPERM));
  CHECK(fcntl(object.descriptor(), F_ADD_SEALS, F_SEAL_WRITE) != 0);

  const auto unit = [](std::uint64_t offset) { return static_cast<std::uint32_t>(offset / rpc::kSharedUnit); };
  const rpc::Handle handle = session::Client::new_handle();
  session.client.call(rpc::AllocShared{handle, kBytes, unit(object.begin())});
  const std::vector<float> values = ramp(5);
  std::memcpy(object.at(object.begin()), values.data(), kBytes);
  std::vector<std::uint8_t> read(kBytes);
  session.client.send(rpc::Read{handle, 0, kBytes}, {}, read).get();
  CHECK(std::memcmp(read.data(), values.data(), kBytes) == 0);
  CHECK(session.refusal({handle, kBytes, unit(object.begin())}) == ErrorCode::invalid_argument);

  const std::uint32_t end = unit(object.end()), last = end - 16;
  constexpr std::uint64_t kLastBytes = 16 * rpc::kSharedUnit;
  for (const rpc::AllocShared& outside : {rpc::AllocShared{handle + 1, kBytes, 0},
                                          {handle + 1, kBytes, 16},
                                          {handle + 1, kLastBytes + 1, last},
                                          {handle + 1, kBytes, end},
                                          {handle + 1, kBytes, ~std::uint32_t{0}},
                                          {handle + 1, ~std::uint64_t{0}, last}})
    CHECK(session.refusal(outside) == ErrorCode::unsupported);
  CHECK(session.refusal({handle + 1, 100, last}) == ErrorCode::resource_exhausted);
  CHECK(session.refusal({0, kBytes, last}) == ErrorCode::invalid_argument);
  session.client.call(rpc::AllocShared{handle + 1, kLastBytes, last});
}

TEST_CASE("shared tensors count towards the session's limit") {
  RawSession session;
  const std::uint64_t limit = session.client.facts().memory_limit_bytes;
  const rpc::Handle handle = session::Client::new_handle();
  const std::uint64_t bytes = limit / 2 + 4096;
  const auto unit = static_cast<std::uint32_t>(session.object->begin() / rpc::kSharedUnit);
  session.client.call(rpc::AllocShared{handle, bytes, unit});
  CHECK(session.refusal({handle + 1, bytes, unit}) == ErrorCode::resource_exhausted);
  session.client.call(rpc::Free{handle});
  session.client.call(rpc::AllocShared{handle + 1, bytes, unit});
}

TEST_CASE("an object that is too small for the server's part, or may still change, is left alone") {
  Descriptor small(memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(small.number(), 1 << 20) == 0);
  Descriptor open(memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(open.number(), off_t{1} << 46) == 0);
  REQUIRE(fcntl(small.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) == 0);
  for (const int object : {small.number(), open.number(), -1}) {
    session::LocalServer server(session::find_rpc_server(), {}, object);
    session::Client client({value_or_throw(wrap_socket(server.take_socket()))}, "the server");
    const rpc::AllocShared request{session::Client::new_handle(), 1 << 18, 1 << 29};
    CHECK(error_of([&] { client.call(request); }).code() == ErrorCode::unsupported);
    client.call(rpc::Alloc{session::Client::new_handle(), 1 << 18, 0});
  }
}
