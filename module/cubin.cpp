#include "module/cubin.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace ferry {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kElfHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24;
constexpr std::size_t kSectionTable = 40, kSectionCount = 60, kNameSection = 62;  // offsets in the header
constexpr std::uint8_t kSized = 4, kRegisters = 0x2f, kStack = 0x11;
constexpr std::size_t kAttributeBytes = 4, kSymbolAndNumber = 8;

const char* const kInfo = ".nv.info";
constexpr std::string_view kShared = ".nv.shared.";

// Reads a number at an offset that is known to lie within the bytes.
template <class T>
T number_at(Bytes bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct ElfSection {
  std::string name;
  std::uint64_t bytes = 0;  // also set for sections without contents
  Bytes contents;
  std::uint32_t link = 0;
};

// Returns an empty string if the offset is outside the table.
std::string text_at(Bytes table, std::size_t at) {
  const Bytes rest = table.subspan(std::min(at, table.size()));
  return {rest.begin(), std::find(rest.begin(), rest.end(), 0)};
}

Status refuse(const char* what) { return {ErrorCode::invalid_argument, std::string("expected a cubin: ") + what}; }

Result<std::vector<ElfSection>> sections_of(Bytes cubin) {
  constexpr std::uint8_t kMagic[] = {0x7f, 'E', 'L', 'F', 2, 1};
  if (cubin.size() < kElfHeaderBytes || !std::equal(std::begin(kMagic), std::end(kMagic), cubin.begin())) {
    return refuse("it is no ELF file of 64 bits");
  }
  const auto table = number_at<std::uint64_t>(cubin, kSectionTable);
  const std::size_t count = number_at<std::uint16_t>(cubin, kSectionCount);
  if (table > cubin.size() || count > (cubin.size() - table) / kSectionBytes) return refuse("its sections lie outside");
  std::vector<ElfSection> sections(count);
  std::vector<std::uint32_t> names;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::uint32_t kNoContents = 8;
    const std::size_t at = static_cast<std::size_t>(table) + i * kSectionBytes;
    const auto kind = number_at<std::uint32_t>(cubin, at + 4);
    const auto offset = number_at<std::uint64_t>(cubin, at + 24), bytes = number_at<std::uint64_t>(cubin, at + 32);
    names.push_back(number_at<std::uint32_t>(cubin, at));
    sections[i].bytes = bytes;
    sections[i].link = number_at<std::uint32_t>(cubin, at + 40);
    if (kind == 0 || kind == kNoContents) continue;
    if (offset > cubin.size() || bytes > cubin.size() - offset) return refuse("a section lies outside");
    sections[i].contents = cubin.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
  }
  const std::size_t naming = number_at<std::uint16_t>(cubin, kNameSection);
  if (naming >= count) return refuse("its sections have no names");
  for (std::size_t i = 0; i < count; ++i) sections[i].name = text_at(sections[naming].contents, names[i]);
  return sections;
}

}  // namespace

Result<std::vector<CubinKernel>> cubin_kernels(std::span<const std::uint8_t> cubin) {
  FERRY_ASSIGN(const std::vector<ElfSection> sections, sections_of(cubin));
  const auto info =
      std::find_if(sections.begin(), sections.end(), [](const ElfSection& section) { return section.name == kInfo; });
  if (info == sections.end()) return refuse("it has no report of its kernels");
  if (info->link >= sections.size() || sections[info->link].link >= sections.size()) return refuse("it has no symbols");
  const Bytes symbols = sections[info->link].contents;
  const Bytes names = sections[sections[info->link].link].contents;

  std::map<std::string, CubinKernel> kernels;
  const Bytes report = info->contents;
  for (std::size_t at = 0; at + kAttributeBytes <= report.size();) {
    const std::uint8_t format = report[at], attribute = report[at + 1];
    const std::size_t bytes = format == kSized ? number_at<std::uint16_t>(report, at + 2) : 0;
    const std::size_t payload = at + kAttributeBytes;
    at = payload + bytes;
    if (bytes != kSymbolAndNumber || at > report.size() || (attribute != kRegisters && attribute != kStack)) continue;
    const std::size_t symbol = number_at<std::uint32_t>(report, payload);
    if (symbol >= symbols.size() / kSymbolBytes) continue;
    const std::string name = text_at(names, number_at<std::uint32_t>(symbols, symbol * kSymbolBytes));
    CubinKernel& kernel = kernels[name];
    (attribute == kRegisters ? kernel.registers : kernel.stack_bytes) = number_at<std::uint32_t>(report, payload + 4);
  }
  std::vector<CubinKernel> list;
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    for (const ElfSection& section : sections) {
      if (section.name == std::string(kShared) + name) kernel.shared_bytes = section.bytes;
    }
    list.push_back(kernel);
  }
  return list;
}

}  // namespace ferry
