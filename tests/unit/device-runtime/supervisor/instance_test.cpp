// Tests of instances through a real server: what their init plans compute is kept, charged and checked.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

// f(in f32[n] A, const in f32[n] B, out f32[n] C): C = A + P, where the init plan computes P.
FunctionInfo with_init_plan(std::string name) {
  FunctionInfo f;
  f.name = std::move(name);
  f.symbols = {"n"};
  f.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::in),
                  tensor_parameter("C", Direction::out)};
  f.parameters[1].is_constant = true;
  CallStep add;
  add.symbol = "add";
  add.operands = {{OperandKind::argument, 0, kNoValue},
                  {OperandKind::persistent, 0, kNoValue},
                  {OperandKind::argument, 2, kNoValue},
                  {OperandKind::value, 0, kNoValue}};
  f.plan.steps = {add};
  const ValueIndex bytes =
      add_value(f.init, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
  f.persistent = {{0, bytes}};
  return f;
}

// P = B + B
FunctionInfo doubling() {
  FunctionInfo f = with_init_plan("doubling");
  CallStep twice = std::get<CallStep>(f.plan.steps[0]);
  twice.operands[0] = twice.operands[1] = {OperandKind::argument, 1, kNoValue};
  twice.operands[2] = {OperandKind::persistent, 0, kNoValue};
  f.init.steps = {twice};
  return f;
}

// P = B
FunctionInfo copying() {
  FunctionInfo f = with_init_plan("copying");
  f.init.steps = {
      CopyStep{{OperandKind::persistent, 0, kNoValue}, {OperandKind::argument, 1, kNoValue}, f.persistent[0].bytes}};
  return f;
}

// Its init plan calls a kernel of the kit that fails with n, or crashes.
FunctionInfo failing(const std::string& symbol) {
  FunctionInfo f = with_init_plan(symbol == "fail" ? "failing" : "crashing");
  f.messages = {"the call's reason", "the first reason", "the second reason"};
  CallStep step;
  step.symbol = symbol;
  step.operands = {{OperandKind::value, 0, kNoValue}, {OperandKind::persistent, 0, kNoValue}};
  step.first_message = 1;
  f.init.steps = {step};
  return f;
}

// Has as many empty persistent buffers as a third of a session may have, and one more.
FunctionInfo many() {
  FunctionInfo f = with_init_plan("many");
  f.persistent.resize(65'536 / 3 + 1, {0, kNoValue});
  f.init.steps = copying().init.steps;
  return f;
}

const Bytes& file() {
  static const Bytes bytes = [] {
    ModuleFile module = kit_module();
    for (FunctionInfo& f :
         std::vector<FunctionInfo>{doubling(), copying(), failing("fail"), failing("null_pointer"), many()})
      module.manifest.functions.push_back(std::move(f));
    REQUIRE(check_manifest(module.manifest).is_ok());
    return write_module(module);
  }();
  return bytes;
}

constexpr std::int64_t kSize = 64;

struct Fixture {
  TestServer server{{"--memory-limit", "64M"}};
  TestClient client{server.port()};
  rpc::Handle module = put(client, file());
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

TEST_CASE_FIXTURE(Fixture, "an init plan runs once, and calls read what it computed") {
  const rpc::Handle instance = bind("doubling", b);
  CHECK(result(call_of("doubling", b, instance)) == 21);
  // The packing is not repeated by calls: they do not notice a write to the constant.
  client.must(rpc::Fill{b, FillKind::ones, DType::f32, kSize, 0});
  CHECK(result(call_of("doubling", b, instance)) == 21);
  CHECK(result(call_of("doubling", b, bind("doubling", b))) == 3);
  CHECK(result(call_of("doubling", b, instance)) == 21);
}

TEST_CASE_FIXTURE(Fixture, "instances of one function with different constants live side by side") {
  const rpc::Handle other = client.upload(std::vector<float>(kSize, 100));
  const rpc::Handle first = bind("copying", b), second = bind("copying", other);
  CHECK(result(call_of("copying", b, first)) == 11);
  CHECK(result(call_of("copying", other, second)) == 101);
  client.must(rpc::Free{first});
  CHECK(result(call_of("copying", other, second)) == 101);
  CHECK(refusal(call_of("copying", b, first), ErrorCode::not_found).find("there is no instance ") == 0);
  CHECK(refusal(rpc::Free{first}, ErrorCode::not_found).find("there is no buffer ") == 0);
}

TEST_CASE_FIXTURE(Fixture, "measurements name an instance as calls do") {
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

TEST_CASE_FIXTURE(Fixture, "a call is refused unless the instance is of its function and has its constants") {
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
  elsewhere.module = put(client, file());
  CHECK(refusal(elsewhere) == "doubling: expected an instance of it, got one of doubling");
  CHECK(result(call_of("doubling", b, instance)) == 21);
}

TEST_CASE_FIXTURE(Fixture, "wrong constants are refused in the manifest's terms") {
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

TEST_CASE_FIXTURE(Fixture, "a failed bind leaves nothing behind, and later requests tell its reason") {
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

TEST_CASE_FIXTURE(Fixture, "an instance outlives its constants and ends with its module") {
  const rpc::Handle instance = bind("copying", b);
  client.must(rpc::Free{b});
  CHECK(refusal(call_of("copying", b, instance), ErrorCode::not_found).find("there is no buffer ") == 0);
  client.must(rpc::UnloadModule{module});
  CHECK(refusal(rpc::Free{instance}, ErrorCode::not_found).find("there is no buffer ") == 0);
  for (const rpc::Handle handle : {a, c}) client.must(rpc::Free{handle});
  client.must(rpc::GuardMemory{});
}

TEST_CASE_FIXTURE(Fixture, "persistent buffers are charged to the session until the instance is released") {
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

TEST_CASE_FIXTURE(Fixture, "a session has at most 4096 instances and 65,536 persistent buffers") {
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

TEST_CASE_FIXTURE(Fixture, "a crash of an init plan names its function") {
  const Status status = client.ask(bind_of("crashing", b)).status;
  CHECK(status.code() == ErrorCode::kernel_crashed);
  CHECK(status.message().find("crashing") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
