#include "device-runtime/runner/shared_memory.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

namespace ferry::device {
namespace {

constexpr std::uint64_t kHugePage = 2 << 20;

// Returns the signal that reading the byte ends a process with; 0: none.
int signal_of_read(const volatile std::uint8_t* at) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*at != 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("parts of a layout are whole pages with a page that nobody maps on both sides") {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  SharedLayout layout;
  std::uint64_t end = 0;
  for (const std::uint64_t bytes : {std::uint64_t{1}, page - 1, page, page + 1, std::uint64_t{1000}}) {
    for (const std::uint64_t lead : {std::uint64_t{0}, std::uint64_t{64}, page - 64}) {
      const SharedPart part = layout.add(bytes, lead);
      CHECK(part.offset % page == 0);
      CHECK(part.bytes % page == 0);
      CHECK(part.bytes >= lead + bytes);
      CHECK(part.bytes < lead + bytes + page);
      CHECK(part.offset >= end + page);
      end = part.offset + part.bytes;
      CHECK(layout.bytes() >= end + page);
    }
  }
}

TEST_CASE("large tensors begin at a huge page, in the object and in mappings of it") {
  SharedLayout layout;
  layout.add(1);
  const SharedPart part = layout.add(4 << 20);
  CHECK(part.offset % kHugePage == 0);
  const auto mapping = SharedMapping::reserve(layout.bytes());
  REQUIRE(mapping.is_ok());
  CHECK(reinterpret_cast<std::uintptr_t>(mapping.value().at(part.offset)) % kHugePage == 0);
}

TEST_CASE("two mappings of a part are the same memory, and what is around it cannot be read") {
  SharedLayout layout;
  const SharedPart part = layout.add(10'000), other = layout.add(1);
  const Descriptor object = make_shared_object(layout.bytes());
  REQUIRE(object.number() >= 0);
  CHECK(ftruncate(object.number(), 1) != 0);
  auto first = SharedMapping::reserve(layout.bytes()), second = SharedMapping::reserve(layout.bytes());
  REQUIRE(first.is_ok());
  REQUIRE(second.is_ok());
  REQUIRE(first.value().map(object.number(), part, true).is_ok());
  REQUIRE(second.value().map(object.number(), part, false, true).is_ok());
  first.value().at(part.offset)[9'999] = 7;
  CHECK(second.value().at(part.offset)[9'999] == 7);
  for (const std::uint64_t offset : {part.offset - 1, part.offset + part.bytes, other.offset})
    CHECK(signal_of_read(second.value().at(offset)) == SIGSEGV);
  REQUIRE(second.value().unmap(part).is_ok());
  CHECK(signal_of_read(second.value().at(part.offset)) == SIGSEGV);
  CHECK(first.value().at(part.offset)[9'999] == 7);
}

// Returns how many bytes of the mapping that begins at this address are mapped by huge pages.
std::uint64_t huge_bytes_at(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  char begin[32];
  std::snprintf(begin, sizeof begin, "%zx-", reinterpret_cast<std::uintptr_t>(address));
  bool is_in = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" kB") == std::string::npos && line.find('-') < 17) is_in = line.starts_with(begin);
    if (is_in && line.starts_with("ShmemPmdMapped:")) return std::stoull(line.substr(15)) << 10;
  }
  return 0;
}

// Whether this system makes huge pages of a process's small ones in shared memory.
bool has_huge_pages() {
  auto mapping = SharedMapping::reserve(kHugePage);
  REQUIRE(mapping.is_ok());
  const Descriptor object = make_shared_object(kHugePage);
  std::uint8_t* const memory = mapping.value().at(0);
  REQUIRE(mapping.value().map(object.number(), {0, kHugePage}, true).is_ok());
  *memory = 1;
  return madvise(memory, kHugePage, 25 /* MADV_COLLAPSE */) == 0;
}

TEST_CASE("large tensors have huge pages in both mappings, up to their last whole one") {
  if (!has_huge_pages()) {
    MESSAGE("skipped: this system has no huge pages in shared memory, or is older than Linux 6.1");
    return;
  }
  SharedLayout layout;
  const SharedPart large = layout.add((9 << 20) + 1), small = layout.add((4 << 20) - 1);
  const Descriptor object = make_shared_object(layout.bytes());
  auto first = SharedMapping::reserve(layout.bytes()), second = SharedMapping::reserve(layout.bytes());
  REQUIRE(first.is_ok());
  REQUIRE(second.is_ok());
  for (const SharedPart& part : {large, small}) {
    REQUIRE(first.value().map(object.number(), part, true).is_ok());
    std::memset(first.value().at(part.offset), 7, static_cast<std::size_t>(part.bytes));
    REQUIRE(second.value().map(object.number(), part, false, true).is_ok());
  }
  for (SharedMapping* mapping : {&first.value(), &second.value()}) {
    CHECK(huge_bytes_at(mapping->at(large.offset)) == 8 << 20);
    CHECK(huge_bytes_at(mapping->at(small.offset)) == 0);
    CHECK(mapping->at(large.offset)[large.bytes - 1] == 7);
  }
}

TEST_CASE("a part beyond the reserved addresses is refused") {
  const Descriptor object = make_shared_object(1 << 20);
  auto mapping = SharedMapping::reserve(1 << 16);
  REQUIRE(mapping.is_ok());
  CHECK(mapping.value().map(object.number(), {1 << 15, 1 << 16}, true).code() == ErrorCode::resource_exhausted);
  CHECK(mapping.value().map(object.number(), {UINT64_MAX - 4095, 8192}, true).code() == ErrorCode::resource_exhausted);
}

}  // namespace
}  // namespace ferry::device
