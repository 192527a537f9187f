// Tests how selectors are parsed, matched and printed.
#include "farm/core/selector/selector.h"

#include <doctest/doctest.h>

namespace ferry::test {
namespace {

using farm::BoardDescription;

BoardDescription raspberry() {
  BoardDescription board;
  board.name = "lab-3";
  board.model = "rpi4";
  board.arch = "aarch64";
  board.cpu = "cortex-a72";
  board.memory_bytes = std::uint64_t{4} << 30U;
  board.cores = 4;
  board.features = {"crc", "fp"};
  board.tags = {{"bench", ""}, {"rack", "b2"}};
  return board;
}

BoardDescription workstation() {
  BoardDescription board;
  board.name = "ws";
  board.arch = "x86_64";
  board.devices = {{"cuda", "sm_90"}, {"opencl", ""}};
  return board;
}

bool matches(const char* text, const BoardDescription& board) {
  auto selector = farm::parse_selector(text);
  REQUIRE_MESSAGE(selector.is_ok(), selector.status().message());
  return farm::matches(selector.value(), board);
}

std::string canonical(const char* text) {
  auto selector = farm::parse_selector(text);
  REQUIRE_MESSAGE(selector.is_ok(), selector.status().message());
  return farm::to_text(selector.value());
}

std::string refusal(const std::string& text) {
  const auto selector = farm::parse_selector(text);
  REQUIRE(!selector.is_ok());
  CHECK(selector.status().code() == ErrorCode::invalid_argument);
  return selector.status().message();
}

TEST_CASE("a word matches the board's name, its model and its tags") {
  CHECK(matches("lab-3", raspberry()));
  CHECK(matches("rpi4", raspberry()));
  CHECK(matches("bench", raspberry()));
  CHECK(!matches("rpi5", raspberry()));
  CHECK(!matches("aarch64", raspberry()));
}

TEST_CASE("a board must satisfy all terms") {
  CHECK(matches("arch=aarch64,memory>=2G,tag:bench", raspberry()));
  CHECK(!matches("arch=aarch64,memory>=8G,tag:bench", raspberry()));
  CHECK(!matches("arch=armv7,memory>=2G", raspberry()));
}

TEST_CASE("numbers are compared in each of six ways") {
  CHECK(matches("cores=4", raspberry()));
  CHECK(matches("cores!=8", raspberry()));
  CHECK(matches("cores>=4,cores<=4", raspberry()));
  CHECK(matches("cores>3,cores<5", raspberry()));
  CHECK(!matches("cores>4", raspberry()));
  CHECK(!matches("cores<4", raspberry()));
  CHECK(matches("memory=4096M", raspberry()));
  CHECK(matches("memory=4294967296", raspberry()));
}

TEST_CASE("a board's memory counts as what it was made with") {
  BoardDescription board = raspberry();
  const auto has = [&](std::uint64_t megabytes, const char* text) {
    board.memory_bytes = megabytes << 20U;
    return matches(text, board);
  };
  for (const auto& [reported, made] : {std::pair<std::uint64_t, const char*>{427, "memory=448M"},
                                       {921, "memory=1G"},
                                       {1848, "memory=2G"},
                                       {3792, "memory=4G"},
                                       {5800, "memory=6G"},
                                       {7800, "memory=8G"},
                                       {15'900, "memory=16G"}})
    CHECK_MESSAGE(has(reported, made), made);
  CHECK(has(2048, "memory=2G"));
  CHECK(!has(1024, "memory>=2G"));
  CHECK(!has(1500, "memory>=2G"));
  board.memory_bytes = UINT64_MAX;
  CHECK(matches("memory>1T", board));
  board.memory_bytes = 0;
  CHECK(matches("memory=0", board));
}

TEST_CASE("texts are equal or not") {
  CHECK(matches("cpu=cortex-a72,feature=crc,model=rpi4,name=lab-3", raspberry()));
  CHECK(matches("feature!=sve,name!=lab-4", raspberry()));
  CHECK(!matches("name!=lab-3", raspberry()));
}

TEST_CASE("a tag matches with any value, or with one") {
  CHECK(matches("tag:rack", raspberry()));
  CHECK(matches("tag:rack=b2", raspberry()));
  CHECK(!matches("tag:rack=b3", raspberry()));
  CHECK(!matches("tag:row", raspberry()));
}

TEST_CASE("a device matches by its kind and its architecture") {
  CHECK(matches("cuda", workstation()));
  CHECK(matches("cuda -arch=sm_90", workstation()));
  CHECK(matches("opencl,arch=x86_64", workstation()));
  CHECK(!matches("cuda -arch=sm_80", workstation()));
  CHECK(!matches("cuda", raspberry()));
}

TEST_CASE("equal selectors have the same canonical text, and it parses to itself") {
  CHECK(canonical("memory>=2048M, arch = aarch64,tag:bench,tag:bench") == "arch=aarch64,memory>=2G,tag:bench");
  CHECK(canonical("memory<1500") == "memory<1500");
  CHECK(canonical("memory=0") == "memory=0");
  for (const char* text : {"rpi4", "arch!=aarch64", "cores>3", "cuda -arch=sm_90,tag:a=b", "memory<=3K", "opencl"})
    CHECK(canonical(text) == text);
}

TEST_CASE("a refusal says what was expected, what there is and where") {
  CHECK(refusal("") == "selector '': expected a name, a key, 'tag:' or a device, got the end at character 1");
  CHECK(refusal("rpi4,") == "selector 'rpi4,': expected a name, a key, 'tag:' or a device, got the end at character 6");
  CHECK(refusal("memory=>2G") == "selector 'memory=>2G': expected a size, such as 2G, got '>2G' at character 8");
  CHECK(refusal("memory>=2GB") == "selector 'memory>=2GB': expected a size, such as 2G, got '2GB' at character 9");
  CHECK(refusal("cores>=2G") == "selector 'cores>=2G': expected a number, got '2G' at character 8");
  CHECK(refusal("arch>=armv7") == "selector 'arch>=armv7': expected '=' or '!=', got '>=armv7' at character 5");
  CHECK(refusal("os=linux") ==
        "selector 'os=linux': expected one of the keys arch, cores, cpu, feature, memory, model, name before a "
        "comparison, got 'os=linux' at character 1");
  CHECK(refusal("cuda -mcpu=x") == "selector 'cuda -mcpu=x': expected '-arch=', got '-mcpu=x' at character 6");
  CHECK(refusal("cuda -arch=") ==
        "selector 'cuda -arch=': expected an architecture, such as sm_90, got the end at character 12");
  CHECK(refusal("tag:") == "selector 'tag:': expected a tag's name, got the end at character 5");
  CHECK(refusal("tag:a=,b") == "selector 'tag:a=,b': expected a tag's value, got ',b' at character 7");
  CHECK(refusal("rpi4 rpi5") == "selector 'rpi4 rpi5': expected ',' or the end, got 'rpi5' at character 6");
  CHECK(refusal("memory>=99999999999T") ==
        "selector 'memory>=99999999999T': expected a size below 2^64 bytes, got '99999999999T' at character 9");
  CHECK(refusal("a\x1b[2J") == "selector 'a\\x1b[2J': expected ',' or the end, got '\\x1b[2J' at character 2");
  CHECK(refusal(std::string(2000, 'a')) == "expected a selector of at most 1024 bytes, got 2000");
}

TEST_CASE("the reason why no board matches names the term that none satisfies") {
  const BoardDescription pi = raspberry(), ws = workstation();
  const auto explain = [&](const char* text) {
    return farm::explain_no_match(farm::parse_selector(text).value(), {&pi, &ws});
  };
  CHECK(explain("arch=riscv64") == "no board has arch=riscv64");
  CHECK(explain("arch=aarch64,cuda") == "no board has all of arch=aarch64,cuda");
  CHECK(farm::explain_no_match(farm::parse_selector("rpi4").value(), {}) == "the farm has no boards");
}

}  // namespace
}  // namespace ferry::test
