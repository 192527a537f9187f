// Tests of instances that clients and modules try to misuse: of others, without end, and beyond their memory.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/supervisor/instance_fixture.h"

namespace ferry::test {
namespace {

// Binds until the server refuses to, which must be because of the memory; returns the instances before.
std::vector<rpc::Handle> bind_all(InstanceFixture& fixture, const std::string& function, std::size_t constants) {
  std::vector<rpc::Handle> instances;
  while (instances.size() < 4000) {
    rpc::Bind request = fixture.bind_of(function, fixture.b);
    request.constants.resize(constants, request.constants[0]);
    const Status status = fixture.client.ask(request).status;
    if (!status.is_ok()) {
      CHECK(status.code() == ErrorCode::resource_exhausted);
      CHECK_MESSAGE(status.message().find("--memory-limit") != std::string::npos, status.message());
      break;
    }
    instances.push_back(request.instance);
  }
  return instances;
}

// Returns why the server refuses the kit with a function that this changes from copying().
template <class Change>
std::string refusal_of_module(TestClient& client, Change change) {
  ModuleFile module = kit_module();
  change(module.manifest.functions.emplace_back(copying()));
  const Bytes bytes = write_module(module);
  const Status status = client.ask(rpc::PutModule{client.new_handle(), blake2b(bytes)}, bytes).status;
  CHECK(status.code() == ErrorCode::invalid_argument);
  return status.message();
}

TEST_CASE_FIXTURE(InstanceFixture, "persistent buffers are charged to the session until the instance is released") {
  const std::int64_t n = 6 << 20;
  const rpc::Handle large = client.new_handle();
  client.must(rpc::Alloc{large, static_cast<std::uint64_t>(n) * 4, 0});
  rpc::Bind request = bind_of("copying", large);
  request.constants[0].shape = {n};
  client.must(request);
  rpc::Bind second = request;
  second.instance = client.new_handle();
  CHECK(refusal(second, ErrorCode::resource_exhausted).find("--memory-limit") != std::string::npos);
  client.must(rpc::Free{request.instance});
  second.instance = client.new_handle();
  client.must(second);
}

TEST_CASE_FIXTURE(InstanceFixture,
                  "an instance is charged for the arguments that it remembers and for the steps of its calls") {
  // Takes most of the memory, so that few instances fill the rest: emulators are slow.
  const rpc::Handle large = client.new_handle();
  client.must(rpc::Alloc{large, 56 << 20, 0});
  for (const auto& [function, constants, most] :
       {std::tuple("wide", std::size_t{1001}, std::size_t{125}), {"lengthy", std::size_t{1}, std::size_t{5}}}) {
    const std::vector<rpc::Handle> instances = bind_all(*this, function, constants);
    CHECK(instances.size() > 0);
    CHECK(instances.size() < most);
    for (const rpc::Handle instance : instances) client.must(rpc::Free{instance});
    CHECK(bind_all(*this, function, constants).size() == instances.size());
    client.must(rpc::UnloadModule{module});
    module = put(client, instance_file());
  }
  for (const rpc::Handle handle : {a, b, c, large}) client.must(rpc::Free{handle});
  client.must(rpc::UnloadModule{module});
  client.must(rpc::GuardMemory{});
}

TEST_CASE_FIXTURE(InstanceFixture, "an instance that is freed while calls of it wait is gone for those behind") {
  const rpc::Handle instance = bind("doubling", b);
  const rpc::Call call = call_of("doubling", b, instance);
  const std::uint64_t before = client.send(call), freed = client.send(rpc::Free{instance});
  const std::uint64_t behind = client.send(call), measured = client.send(rpc::TimeSteps{call, 1, false});
  CHECK(client.receive<rpc::Call>(before).status.is_ok());
  CHECK(client.receive<rpc::Free>(freed).status.is_ok());
  CHECK(client.receive<rpc::Call>(behind).status.code() == ErrorCode::not_found);
  CHECK(client.receive<rpc::TimeSteps>(measured).status.code() == ErrorCode::not_found);
  // Their outputs are unwritten.
  CHECK(client.ask(rpc::Read{c, 0, 4}).status.code() == ErrorCode::aborted);
  // Likewise for a module that is unloaded meanwhile.
  const std::uint64_t bound = client.send(bind_of("doubling", b)), unloaded = client.send(rpc::UnloadModule{module});
  const std::uint64_t without = client.send(bind_of("doubling", b));
  CHECK(client.receive<rpc::Bind>(bound).status.is_ok());
  CHECK(client.receive<rpc::UnloadModule>(unloaded).status.is_ok());
  CHECK(client.receive<rpc::Bind>(without).status.code() == ErrorCode::not_found);
}

TEST_CASE("guarded memory detects code of an init plan that writes beyond a persistent buffer") {
  TestServer server;
  TestClient client(server.port());
  client.must(rpc::GuardMemory{});
  const rpc::Handle module = put(client, instance_file()), b = client.upload(std::vector<float>(kSize, 10));
  const rpc::Bind beyond{client.new_handle(), module, "beyond", {tensor(b, {kSize})}};
  const Status status = client.ask(beyond).status;
  CHECK(status.code() == ErrorCode::invalid_argument);
  CHECK(status.message() == "beyond: the kernel wrote outside of its tensors, behind a tensor");
  client.must(rpc::Free{beyond.instance});
  client.must(rpc::Bind{client.new_handle(), module, "doubling", {tensor(b, {kSize})}});
}

TEST_CASE("a session knows only its own instances") {
  TestServer server{{"--sessions", "2"}};
  TestClient owner(server.port()), other(server.port());
  const auto bound = [](TestClient& client, float value) {
    const rpc::Handle module = put(client, instance_file()), b = client.upload(std::vector<float>(kSize, value));
    rpc::Call call{module, "copying", {tensor(b, {kSize}), tensor(b, {kSize}), tensor(b + 1, {kSize})}};
    CHECK(client.upload(std::vector<float>(kSize, 0)) == b + 1);
    call.instance = client.new_handle();
    return call;
  };
  const rpc::Call mine = bound(owner, 1), theirs = bound(other, 100);
  CHECK(mine.instance == theirs.instance);
  owner.must(rpc::Bind{mine.instance, mine.module, "copying", {mine.arguments[1]}});
  CHECK(other.ask(theirs).status.code() == ErrorCode::not_found);
  CHECK(other.ask(rpc::Free{theirs.instance}).status.code() == ErrorCode::not_found);
  other.must(rpc::Bind{theirs.instance, theirs.module, "copying", {theirs.arguments[1]}});
  owner.must(mine);
  other.must(theirs);
  CHECK(owner.download<float>(mine.arguments[2].buffer, 1)[0] == 2);
  CHECK(other.download<float>(theirs.arguments[2].buffer, 1)[0] == 200);
}

TEST_CASE_FIXTURE(InstanceFixture, "modules whose plans write what belongs to others are refused") {
  const auto refused = [&](auto change) { return refusal_of_module(client, change); };
  const Operand constant{OperandKind::argument, 1, kNoValue}, persistent{OperandKind::persistent, 0, kNoValue};
  const std::string read_only = "expected memory that the plan may write, got an input";
  // An init plan cannot change its constants, nor a call the persistent buffers.
  CHECK(refused([&](FunctionInfo& f) { f.init.steps = {CopyStep{constant, persistent, kNoValue}}; }) ==
        "manifest: copying: init plan: " + read_only);
  CHECK(refused([&](FunctionInfo& f) { f.plan.steps = {FillStep{persistent, kNoValue, 1, 0}}; }) ==
        "manifest: copying: " + read_only);
  // It reads nothing that is unknown when it runs.
  CHECK(refused([&](FunctionInfo& f) {
          f.init.steps = {CopyStep{persistent, {OperandKind::argument, 0, kNoValue}, kNoValue}};
        }) == "manifest: copying: init plan: expected an operand that is a constant input, got 'A'");
  CHECK(refused([&](FunctionInfo& f) {
          f.init.steps = {CopyStep{{OperandKind::persistent, 1, kNoValue}, constant, kNoValue}};
        }) == "manifest: copying: init plan: expected a persistent buffer below 1, got 1");
  CHECK(refused([](FunctionInfo& f) { f.parameters[2].is_constant = true; }) ==
        "manifest: copying: parameter 'C': expected a constant to be an input tensor");
}

TEST_CASE_FIXTURE(InstanceFixture,
                  "a step beyond the end of a persistent buffer is refused when the instance is bound or called") {
  ModuleFile changed = kit_module();
  FunctionInfo& f = changed.manifest.functions.emplace_back(copying());
  // One byte less than the init plan writes, as the expression of a hostile module may have it.
  f.persistent[0].bytes = add_value(
      f.init, 1,
      manifest_apply(ManifestOp::sub, {manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}),
                                       manifest_constant(1)}));
  FunctionInfo& negative = changed.manifest.functions.emplace_back(copying());
  negative.name = "negative";
  negative.persistent[0].bytes = add_value(negative.init, 1, manifest_constant(-1));
  FunctionInfo& reads = changed.manifest.functions.emplace_back(copying());
  reads.name = "reads";
  const ValueIndex more = add_value(reads.plan, 1, manifest_constant(kSize * 4 + 1));
  reads.plan.steps = {CopyStep{{OperandKind::argument, 2, kNoValue}, {OperandKind::persistent, 0, more}, kNoValue}};
  module = put(client, write_module(changed));
  CHECK(refusal(bind_of("copying", b)) == "copying: the plan copies or fills 256 bytes where 255 are left");
  CHECK(refusal(bind_of("negative", b)) ==
        "negative: expected sizes and offsets of at least 0 bytes in its plan, got -1");
  CHECK(refusal(call_of("reads", b, bind("reads", b))) == "reads: the plan works at byte 257 of memory of 256 bytes");
}

// Thousands of init plans take a tenth of the time where none has a process of its own.
struct NotIsolated : InstanceFixture {
  NotIsolated() : InstanceFixture({"--memory-limit", "64M", "--perf-map"}) {}
};

TEST_CASE_FIXTURE(NotIsolated, "a session has at most 4096 instances and 65,536 persistent buffers") {
  for (int i = 0; i < 2; ++i) bind("many", b);
  CHECK(refusal(bind_of("many", b), ErrorCode::resource_exhausted) ==
        "many: expected at most 65536 persistent buffers a session, got 65538");
  // The handle of the refused one is taken as well.
  std::vector<std::uint64_t> sent;
  for (int i = 3; i < 4096; ++i) {
    sent.push_back(client.send(bind_of("copying", b)));
    if (sent.size() < 64 && i < 4095) continue;
    for (const std::uint64_t id : sent) REQUIRE(client.receive<rpc::Bind>(id).status.is_ok());
    sent.clear();
  }
  CHECK(refusal(bind_of("copying", b), ErrorCode::resource_exhausted) == "expected at most 4096 instances a session");
}

}  // namespace
}  // namespace ferry::test
