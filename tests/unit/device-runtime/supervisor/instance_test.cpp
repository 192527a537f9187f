// Tests of instances through a real server: what their init plans compute is kept and checked.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/supervisor/instance_fixture.h"

namespace ferry::test {
namespace {

TEST_CASE_FIXTURE(InstanceFixture, "an init plan runs once, and calls read what it computed") {
  const rpc::Handle instance = bind("doubling", b);
  CHECK(result(call_of("doubling", b, instance)) == 21);
  // The packing is not repeated by calls: they do not notice a write to the constant.
  client.must(rpc::Fill{b, FillKind::ones, DType::f32, kSize, 0});
  CHECK(result(call_of("doubling", b, instance)) == 21);
  CHECK(result(call_of("doubling", b, bind("doubling", b))) == 3);
  CHECK(result(call_of("doubling", b, instance)) == 21);
}

TEST_CASE_FIXTURE(InstanceFixture, "instances of one function with different constants live side by side") {
  const rpc::Handle other = client.upload(std::vector<float>(kSize, 100));
  const rpc::Handle first = bind("copying", b), second = bind("copying", other);
  CHECK(result(call_of("copying", b, first)) == 11);
  CHECK(result(call_of("copying", other, second)) == 101);
  client.must(rpc::Free{first});
  CHECK(result(call_of("copying", other, second)) == 101);
  CHECK(refusal(call_of("copying", b, first), ErrorCode::not_found).find("there is no instance ") == 0);
  CHECK(refusal(rpc::Free{first}, ErrorCode::not_found).find("there is no buffer ") == 0);
}

TEST_CASE_FIXTURE(InstanceFixture, "measurements name an instance as calls do") {
  const rpc::Handle instance = bind("doubling", b);
  rpc::Evaluate evaluate;
  evaluate.calls = {call_of("doubling", b, instance)};
  evaluate.options = {.number = 1, .repeat = 2, .min_repeat_ms = 0, .warmup_ms = 0};
  evaluate.options.cold = true;
  CHECK(client.must(evaluate).reply.calls.at(0).seconds.size() == 2);
  CHECK(client.must(rpc::TimeSteps{call_of("doubling", b, instance), 2, false}).reply.steps.size() == 1);
  CHECK(client.download<float>(c, kSize)[0] == 21);
  evaluate.calls[0].instance = 0;
  CHECK(refusal(evaluate) == "doubling: expected an instance, got none: bind its constants first");
}

TEST_CASE_FIXTURE(InstanceFixture, "a call is refused unless the instance is of its function and has its constants") {
  const rpc::Handle instance = bind("doubling", b);
  CHECK(refusal(call_of("doubling", b, 0)) == "doubling: expected an instance, got none: bind its constants first");
  CHECK(refusal(call_of("doubling", b, 999), ErrorCode::not_found) == "there is no instance 999");
  CHECK(refusal(call_of("doubling", b, b), ErrorCode::not_found).find("there is no instance ") == 0);
  CHECK(refusal(call_of("copying", b, instance)) == "copying: expected an instance of it, got one of doubling");
  CHECK(refusal(call_of("add", b, instance)) == "add: expected an instance of it, got one of doubling");
  const std::string another = "doubling: expected the tensor that the instance was bound with for 'B', got another";
  CHECK(refusal(call_of("doubling", a, instance)) == another);
  rpc::Call smaller = call_of("doubling", b, instance);
  for (rpc::Argument& argument : smaller.arguments) argument.shape = {16};
  CHECK(refusal(smaller) == another);
  smaller.arguments[1].offset = 64;
  CHECK(refusal(smaller) == another);
  // The same file under another handle is another module.
  rpc::Call elsewhere = call_of("doubling", b, instance);
  elsewhere.module = put(client, instance_file());
  CHECK(refusal(elsewhere) == "doubling: expected an instance of it, got one of doubling");
  CHECK(result(call_of("doubling", b, instance)) == 21);
}

TEST_CASE_FIXTURE(InstanceFixture, "wrong constants are refused in the manifest's terms") {
  rpc::Bind request = bind_of("doubling", b);
  request.instance = 0;
  CHECK(refusal(request) == "expected a handle other than 0");
  request = bind_of("doubling", b);
  request.constants.push_back(request.constants[0]);
  CHECK(refusal(request) == "doubling: expected 1 constants, got 2");
  request = bind_of("doubling", b);
  request.constants[0].dtype = DType::i32;
  CHECK(refusal(request) == "doubling: argument 2 'B': expected f32[n], got i32[64]");
  request = bind_of("doubling", b);
  request.constants[0] = scalar(1.0F);
  CHECK(refusal(request).find("doubling: argument 2 'B': expected f32[n], got a scalar") == 0);
  request = bind_of("doubling", b);
  request.constants[0].shape = {kSize + 1};
  CHECK(refusal(request) == "doubling: argument 2 'B': expected a buffer of at least 260 bytes, got 256");
  CHECK(refusal(bind_of("doubling", 999), ErrorCode::not_found) == "there is no buffer 999");
  CHECK(refusal(bind_of("nothing", b), ErrorCode::not_found).find("there is no function 'nothing'") == 0);
  request = bind_of("doubling", b);
  request.instance = bind("doubling", b);
  CHECK(refusal(request).find("exists already") != std::string::npos);
}

TEST_CASE_FIXTURE(InstanceFixture, "a failed bind leaves nothing behind, and later requests tell its reason") {
  rpc::Bind failing = bind_of("failing", b);
  failing.constants[0].shape = {2};
  const std::uint64_t failed = client.send(failing);
  const std::uint64_t called = client.send(call_of("failing", b, failing.instance));
  CHECK(client.receive<rpc::Bind>(failed).status.message() == "failing: the second reason");
  const auto answer = client.receive<rpc::Call>(called);
  CHECK(answer.status.code() == ErrorCode::aborted);
  CHECK(answer.failed_request == failed);
  client.must(rpc::Free{failing.instance});
  // Constants that a failed request should have written are not there to be bound.
  const std::uint64_t unwritten = client.send(rpc::Call{module, "scale", {scalar(2.0F), tensor(b, {kSize + 1})}});
  CHECK_FALSE(client.receive<rpc::Call>(unwritten).status.is_ok());
  const auto aborted = client.ask(bind_of("copying", b));
  CHECK(aborted.status.code() == ErrorCode::aborted);
  CHECK(aborted.failed_request == unwritten);
  for (const rpc::Handle handle : {a, b, c}) client.must(rpc::Free{handle});
  client.must(rpc::UnloadModule{module});
  client.must(rpc::GuardMemory{});  // refused while any memory is in use
}

TEST_CASE_FIXTURE(InstanceFixture, "an instance outlives its constants and ends with its module") {
  const rpc::Handle instance = bind("copying", b);
  client.must(rpc::Free{b});
  CHECK(refusal(call_of("copying", b, instance), ErrorCode::not_found).find("there is no buffer ") == 0);
  client.must(rpc::UnloadModule{module});
  CHECK(refusal(rpc::Free{instance}, ErrorCode::not_found).find("there is no buffer ") == 0);
  for (const rpc::Handle handle : {a, c}) client.must(rpc::Free{handle});
  client.must(rpc::GuardMemory{});
}

TEST_CASE_FIXTURE(InstanceFixture, "a crash of an init plan names its function") {
  const Status status = client.ask(bind_of("crashing", b)).status;
  CHECK(status.code() == ErrorCode::kernel_crashed);
  CHECK(status.message().find("crashing") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
