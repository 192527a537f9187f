#include <doctest/doctest.h>

#include "module/manifest_codec.h"
#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

template <class Change>
std::string refusal(Change change) {
  Manifest manifest = sample_manifest();
  change(manifest, manifest.functions[0]);
  const Status status = check_manifest(manifest);
  CHECK(status.code() == ErrorCode::invalid_argument);
  // A manifest that fails the check must also fail to decode.
  CHECK_FALSE(decode_manifest(encode_manifest(manifest)).is_ok());
  return status.message();
}

TEST_CASE("a manifest comes back from its bytes as it was") {
  const Result<Manifest> manifest = decode_manifest(encode_manifest(sample_manifest()));
  REQUIRE_MESSAGE(manifest.is_ok(), manifest.status().message());
  CHECK(manifest.value() == sample_manifest());
}

TEST_CASE("a truncated manifest is refused with its offset") {
  const std::vector<std::uint8_t> bytes = encode_manifest(sample_manifest());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    const Status status = decode_manifest(cut).status();
    CAPTURE(length);
    CHECK(status.code() == ErrorCode::invalid_argument);
    CHECK(status.message().rfind("manifest: offset ", 0) == 0);
  }
}

TEST_CASE("each wrong part of a manifest is named") {
  using M = Manifest;
  using F = FunctionInfo;
  CHECK(refusal([](M& m, F&) { m.devices.clear(); }) == "manifest: expected a device, got none");
  CHECK(refusal([](M& m, F&) { m.devices.resize(17, m.devices[0]); }) ==
        "manifest: expected at most 16 devices, got 17");
  CHECK(refusal([](M& m, F&) { m.devices[0].kind = ""; }) ==
        "manifest: kind of device: expected 1 to 256 bytes, got 0");
  CHECK(refusal([](M& m, F&) { m.devices[0].arch = ""; }) == "manifest: architecture: expected 1 to 256 bytes, got 0");
  CHECK(refusal([](M& m, F&) { m.devices[0].features = {"fma", "avx2"}; }) == "manifest: expected sorted features");
  CHECK(refusal([](M& m, F&) { m.constants[0].blob = 1; }) == "manifest: expected a constant of a blob below 1, got 1");
  CHECK(refusal([](M& m, F&) { m.constants[0].device = 2; }) ==
        "manifest: expected a constant on a device below 2, got 2");
  CHECK(refusal([](M& m, F&) { m.constants[0].offset = 1025; }) ==
        "manifest: expected a constant inside of its blob of 4096 bytes, got 3072 bytes from 1025 on");
  CHECK(refusal([](M& m, F&) { m.constants[0].offset = 1000; }) ==
        "manifest: expected a constant at a multiple of 64 bytes, got one at 1000");
  CHECK(refusal([](M& m, F&) { m.blobs[0].bytes = 0; }) ==
        "manifest: expected a blob of 1 to 1099511627776 bytes, got 0");
  CHECK(refusal([](M& m, F&) { m.blobs[0].bytes = (std::uint64_t{1} << 40) + 1; }) ==
        "manifest: expected a blob of 1 to 1099511627776 bytes, got 1099511627777");
  CHECK(refusal([](M& m, F&) { m.constants[0].offset = UINT64_MAX; }).find("inside of its blob") != std::string::npos);
  CHECK(refusal([](M&, F& f) { f.parameters[0].device = 2; }) ==
        "manifest: mm: parameter 'A': expected a device below 2, got 2");
  CHECK(refusal([](M&, F& f) { f.parameters[2].is_constant = true; }) ==
        "manifest: mm: parameter 'C': expected a constant to be an input tensor");
  CHECK(refusal([](M& m, F&) { m.functions.push_back(m.functions[0]); }) ==
        "manifest: expected functions with different names, got two 'mm'");
  CHECK(refusal([](M&, F& f) { f.name = "a\nb"; }) ==
        "manifest: function name: expected UTF-8 without control characters, got 'a\\nb'");
  CHECK(refusal([](M&, F& f) { f.name = std::string(257, 'a'); }) ==
        "manifest: function name: expected 1 to 256 bytes, got 257");
  CHECK(refusal([](M&, F& f) { f.symbols = {"M", "K", "K"}; }) ==
        "manifest: mm: expected symbols with different names, got two 'K'");
  CHECK(refusal([](M&, F& f) { f.parameters[1].name = "A"; }) ==
        "manifest: mm: expected parameters with different names, got two 'A'");
  CHECK(refusal([](M&, F& f) { f.symbols.emplace_back("Q"); }) ==
        "manifest: mm: expected symbol 'Q' to be a size of an input or an i64 scalar parameter");
  CHECK(refusal([](M&, F& f) { f.parameters[1].direction = Direction::out; }) ==
        "manifest: mm: expected symbol 'N' to be a size of an input or an i64 scalar parameter");
  CHECK(refusal([](M&, F& f) { f.parameters[0].shape.assign(9, manifest_constant(1)); }) ==
        "manifest: mm: parameter 'A': expected at most 8 dimensions, got 9");
  CHECK(refusal([](M&, F& f) { f.parameters[0].strides = {manifest_constant(1)}; }) ==
        "manifest: mm: parameter 'A': expected 2 strides, got 1");
  CHECK(refusal([](M&, F& f) { f.parameters[0].kind = ParameterKind::scalar; }) ==
        "manifest: mm: parameter 'A': expected a scalar without sizes");
  CHECK(refusal([](M&, F& f) { f.parameters[0].shape[0] = manifest_symbol(3); }) ==
        "manifest: mm: parameter 'A': size: instruction 0 of an expression: expected a symbol below 3, got 3");
  CHECK(refusal([](M&, F& f) { f.preconditions = {{{}, ""}}; }) ==
        "manifest: mm: precondition: expected an expression of 1 to 256 instructions, got 0");
  CHECK(refusal([](M&, F& f) { f.messages.resize(4097); }) == "manifest: mm: expected at most 4096 messages, got 4097");
}

}  // namespace
}  // namespace ferry
