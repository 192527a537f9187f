// Tests of requests about the contents of tensors, and of what is looked at after each sample of a measurement.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

struct Fixture {
  TestServer server{{"--threads", "2", "--memory-limit", "64M"}};
  TestClient client{server.port()};
  rpc::Handle module = put(client, kit_file());

  template <class T>
  rpc::CompareReply compared(const std::vector<T>& a, const std::vector<T>& b, DType dtype, double rtol = 0,
                             double atol = 0) {
    return client.must(rpc::Compare{client.upload(a), 0, client.upload(b), 0, dtype, a.size(), rtol, atol}).reply;
  }
  template <class Request>
  std::string refusal(const Request& request) {
    const auto answer = client.ask(request);
    CHECK_FALSE(answer.status.is_ok());
    return answer.status.message();
  }
};

TEST_CASE_FIXTURE(Fixture, "a digest is the hash of a range") {
  const Bytes bytes = {1, 2, 3, 4, 5, 6, 7};
  const rpc::Handle buffer = client.upload(bytes);
  CHECK(client.must(rpc::Digest{buffer, 0, 7}).reply.hash == blake2b(bytes));
  CHECK(client.must(rpc::Digest{buffer, 2, 3}).reply.hash == blake2b(std::span(bytes).subspan(2, 3)));
  CHECK(client.must(rpc::Digest{buffer, 7, 0}).reply.hash == blake2b({}));
  const rpc::Handle empty = client.upload(Bytes());
  CHECK(client.must(rpc::Digest{empty, 0, 0}).reply.hash == blake2b({}));
}

TEST_CASE_FIXTURE(Fixture, "elements of every type are compared with limits") {
  CHECK(compared<float>({1, 2, 3}, {1, 2, 3}, DType::f32).different == 0);
  const rpc::CompareReply two = compared<float>({1, 2, 3, 4}, {1, 2.1F, 3, 5}, DType::f32, 0.01);
  CHECK(two.different == 2);
  CHECK(two.first == 1);
  CHECK(compared<float>({1, 2, 3, 4}, {1, 2.1F, 3, 5}, DType::f32, 0.05, 0.8).different == 0);
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  CHECK(compared<float>({nan, inf, -inf, 0}, {-nan, inf, -inf, -0.0F}, DType::f32, 1e-9).different == 0);
  CHECK(compared<float>({nan, inf, inf, 0}, {1, -inf, 1, -0.0F}, DType::f32).different == 4);
  CHECK(compared<float>({nan, inf, inf}, {1, -inf, 1}, DType::f32, 1e30, inf).different == 3);
  CHECK(compared<double>({1, 2}, {1, 2 + 1e-12}, DType::f64).different == 1);
  CHECK(compared<std::uint16_t>({0x3c00, 0x3c01}, {0x3c00, 0x4000}, DType::f16, 0.1).first == 1);
  CHECK(compared<std::uint16_t>({0x3f80}, {0x3f81}, DType::bf16, 0.01).different == 0);
  // The last bit is lost in a double.
  CHECK(compared<std::int64_t>({INT64_MAX}, {INT64_MAX - 1}, DType::i64).different == 1);
  CHECK(compared<std::uint64_t>({UINT64_MAX, 7}, {UINT64_MAX - 1, 7}, DType::u64).different == 1);
  CHECK(compared<std::int8_t>({-1, 3}, {1, 3}, DType::i8, 0, 1.5).different == 1);
  CHECK(compared<std::int8_t>({-1, 3}, {1, 3}, DType::i8, 0, 2).different == 0);
  CHECK(compared<std::uint8_t>({255}, {1}, DType::u8, 0, 2).different == 1);
  CHECK(compared<std::uint8_t>({1, 0}, {1, 1}, DType::boolean).first == 1);
  const std::vector<float> many(100'000, 1);
  std::vector<float> other = many;
  other[99'999] = 2;
  CHECK(compared(many, other, DType::f32).first == 99'999);
}

TEST_CASE_FIXTURE(Fixture, "a part of a tensor is compared, wherever it begins") {
  const rpc::Handle a = client.upload(std::vector<float>{1, 2, 3, 4}), b = client.upload(std::vector<float>{3, 5});
  const rpc::CompareReply reply = client.must(rpc::Compare{a, 8, b, 0, DType::f32, 2, 0, 0}).reply;
  CHECK(reply.different == 1);
  CHECK(reply.first == 1);
}

TEST_CASE_FIXTURE(Fixture, "ranges beyond a buffer, unknown buffers and unknown types are refused") {
  const rpc::Handle a = client.upload(std::vector<float>{1, 2, 3, 4});
  const std::string within = "expected a range within 16 bytes";
  CHECK(refusal(rpc::Digest{a, 0, 17}).find(within) != std::string::npos);
  CHECK(refusal(rpc::Digest{a, 17, 0}).find(within) != std::string::npos);
  CHECK(refusal(rpc::Digest{a, UINT64_MAX, 2}).find(within) != std::string::npos);
  CHECK(refusal(rpc::Digest{77, 0, 0}) == "there is no buffer 77");
  for (const std::uint64_t elements : {std::uint64_t{5}, UINT64_MAX / 4, UINT64_MAX})
    CHECK(refusal(rpc::Compare{a, 0, a, 0, DType::f32, elements, 0, 0}).find(within) != std::string::npos);
  CHECK(refusal(rpc::Compare{a, 0, a, 4, DType::f32, 4, 0, 0}).find(within) != std::string::npos);
  CHECK(refusal(rpc::Compare{a, 0, 77, 0, DType::f32, 1, 0, 0}) == "there is no buffer 77");
  CHECK(refusal(rpc::Compare{77, 0, a, 0, DType::f32, 0, 0, 0}) == "there is no buffer 77");
  CHECK_FALSE(refusal(rpc::Compare{a, 0, a, 0, static_cast<DType>(99), 1, 0, 0}).empty());
  CHECK(client.must(rpc::Compare{a, 0, a, 0, DType::f32, 4, std::nan(""), -1}).reply.different == 0);
}

TEST_CASE_FIXTURE(Fixture, "contents that a failed request was to write are not looked at") {
  const rpc::Handle a = client.upload(std::vector<float>{1, 2});
  const auto failed = client.ask(rpc::Fill{a, FillKind::ones, DType::f32, 3, 0});
  CHECK_FALSE(failed.status.is_ok());
  CHECK(client.ask(rpc::Digest{a, 0, 8}).status.code() == ErrorCode::aborted);
  CHECK(client.ask(rpc::Compare{a, 0, a, 0, DType::f32, 2, 0, 0}).status.code() == ErrorCode::aborted);
}

rpc::Evaluate evaluation(rpc::Call call, std::uint64_t poison) {
  rpc::Evaluate evaluate;
  evaluate.calls = {std::move(call)};
  evaluate.options.number = 3;
  evaluate.options.repeat = 5;
  evaluate.options.min_repeat_ms = evaluate.options.warmup_ms = 0;
  evaluate.options.poison = {poison, 0};
  return evaluate;
}

TEST_CASE_FIXTURE(Fixture, "samples that write their outputs are told from those that do not") {
  for (const std::size_t n : {0, 1, 5, 1000, 100'003}) {
    CAPTURE(n);
    const auto size = static_cast<std::int64_t>(n);
    const auto a = client.upload(std::vector<float>(n, 1)), c = client.upload(std::vector<float>(n, 0));
    const rpc::Call add{module, "add", {tensor(a, {size}), tensor(a, {size}), tensor(c, {size})}};
    const Samples without = client.must(evaluation(add, 0)).reply.calls.at(0);
    CHECK_FALSE(without.inspected);
    const Samples samples = client.must(evaluation(add, 42)).reply.calls.at(0);
    CHECK(samples.inspected);
    CHECK(samples.seconds.size() == 5);
    CHECK(samples.unwritten == 0);
    CHECK(samples.changed == 0);
    CHECK(client.download<float>(c, n) == std::vector<float>(n, 2));
  }
  // It writes nothing.
  const auto result = client.upload(std::vector<float>(1, 7));
  const Samples samples =
      client.must(evaluation({module, "fail", {scalar(std::int64_t{0}), tensor(result, {1})}}, 42)).reply.calls.at(0);
  CHECK(samples.unwritten == 5);
  CHECK(client.download<float>(result, 1)[0] != 7);
}

TEST_CASE_FIXTURE(Fixture, "a tensor that is read and written has the result of one call after a measurement") {
  const auto a = client.upload(std::vector<float>{1, 2, 3});
  rpc::Evaluate evaluate = evaluation({module, "scale", {scalar(2.0F), tensor(a, {3})}}, 42);
  CHECK(client.must(evaluate).reply.calls.at(0).changed == 0);
  CHECK(client.download<float>(a, 3) == std::vector<float>{2, 4, 6});
  evaluate.options.poison = {};
  client.must(evaluate);
  CHECK(client.download<float>(a, 3)[0] == 65536);  // after 15 more
}

TEST_CASE_FIXTURE(Fixture, "without memory for the contents of a tensor that is written a measurement is refused") {
  const std::size_t n = 10 << 20;
  const rpc::Handle a = client.new_handle();
  client.must(rpc::Alloc{a, n * 4, 0});
  const auto size = static_cast<std::int64_t>(n);
  const auto answer = client.ask(evaluation({module, "scale", {scalar(2.0F), tensor(a, {size})}}, 42));
  CHECK(answer.status.code() == ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace ferry::test
