// MODULE.md defines the format.
#include "module/module_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "module/earlier_manifest.h"
#include "module/manifest_codec.h"

namespace ferry {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

constexpr std::uint8_t kMagic[8] = {'F', 'E', 'R', 'R', 'Y', 'M', 'O', 'D'};
constexpr std::size_t kHeaderBytes = kModuleHeaderBytes;
constexpr std::size_t kEntryBytes = 64;
constexpr std::size_t kEntryNameBytes = 32;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHashBytes = sizeof(Hash);
constexpr std::uint32_t kMaxSections = 64;

enum class SectionKind : std::uint32_t {
  manifest = 1,
  code = 2,
  source = 3,
  schedule = 4,
  launches = 5,
  descriptions = 6
};

// Versions 1 to 3 describe one device and the launches of GPU functions in a section of their own, from version 2 on.
constexpr std::uint32_t kVersionWithLaunches = 2;
constexpr std::uint32_t kVersionWithPlans = 4;

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t aligned(std::uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

template <class T>
void put(std::vector<std::uint8_t>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
T get(Bytes bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Status refuse(std::uint64_t offset, const std::string& expected, const std::string& got) {
  return Status(ErrorCode::invalid_argument,
                "module: offset " + std::to_string(offset) + ": expected " + expected + ", got " + got);
}

Status refuse(std::uint64_t offset, const std::string& what, std::uint64_t expected, std::uint64_t got) {
  return refuse(offset, what + " " + std::to_string(expected), std::to_string(got));
}

Status check_zeros(Bytes bytes, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (bytes[i] != 0) return refuse(i, "a zero between the parts", std::to_string(bytes[i]));
  }
  return Status();
}

struct Section {
  SectionKind kind;
  std::string name;
  Bytes bytes;
  std::uint32_t device = 0;
};

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Checks header and length; the hash, the table and the sections remain to be checked.
Status check_envelope(Bytes bytes) {
  if (bytes.size() < kHeaderBytes + kHashBytes) {
    return refuse(bytes.size(), "at least " + std::to_string(kHeaderBytes + kHashBytes) + " bytes", "the end");
  }
  FERRY_ASSIGN(const std::uint64_t length, module_length(bytes));
  if (const auto version = get<std::uint32_t>(bytes, 8); version == 0 || version > kModuleFormatVersion) {
    return Status(ErrorCode::version_mismatch, "module: the file has format version " + std::to_string(version) +
                                                   "; this program reads versions 1 to " +
                                                   std::to_string(kModuleFormatVersion));
  }
  if (length != bytes.size()) {
    return refuse(16, "a file of the length it names, " + std::to_string(length) + " bytes",
                  std::to_string(bytes.size()));
  }
  return {};
}

Status check_hash(Bytes bytes) {
  const std::size_t hashed = bytes.size() - kHashBytes;
  const Hash hash = blake2b(bytes.first(hashed));
  if (!std::equal(hash.begin(), hash.end(), bytes.begin() + static_cast<std::ptrdiff_t>(hashed))) {
    return refuse(hashed, "the hash of the bytes before it", "another: the file is damaged");
  }
  return Status();
}

// Sections are stored in the table's order without gaps, so each offset has exactly one valid value.
Result<std::vector<Section>> read_sections(Bytes bytes) {
  const auto count = get<std::uint32_t>(bytes, 12);
  const std::uint64_t end = bytes.size() - kHashBytes;
  const std::uint64_t most = std::min<std::uint64_t>(kMaxSections, (end - kHeaderBytes) / kEntryBytes);
  if (count > most) return refuse(12, "a number of sections up to", most, count);
  FERRY_TRY(check_zeros(bytes, 24, kHeaderBytes));

  std::vector<Section> sections;
  std::uint64_t next = kHeaderBytes + count * kEntryBytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kHeaderBytes + i * kEntryBytes;
    const auto kind = get<std::uint32_t>(bytes, entry);
    const auto offset = get<std::uint64_t>(bytes, entry + 8);
    const auto length = get<std::uint64_t>(bytes, entry + 16);
    const auto version = get<std::uint32_t>(bytes, 8);
    const bool has_launches = version >= kVersionWithLaunches && version < kVersionWithPlans;
    const bool may_have_descriptions = version >= kVersionWithPlans && kind == 6;
    if (kind < 1 || (kind > (has_launches ? 5U : 4U) && !may_have_descriptions)) {
      return refuse(entry, has_launches ? "a section of kind 1 to 5" : "a section of kind 1 to 4",
                    std::to_string(kind));
    }
    const bool has_device = version >= kVersionWithPlans && static_cast<SectionKind>(kind) == SectionKind::code;
    const auto device = get<std::uint32_t>(bytes, entry + 4);
    if (!has_device) FERRY_TRY(check_zeros(bytes, entry + 4, entry + 8));
    FERRY_TRY(check_zeros(bytes, entry + 24, entry + 32));
    if (offset != next) return refuse(entry + 8, "a section at offset", next, offset);
    if (length > end - next) return refuse(entry + 16, "a section of at most", end - next, length);
    const Bytes name = bytes.subspan(entry + 32, kEntryNameBytes);
    const auto name_end = std::find(name.begin(), name.end(), std::uint8_t{0});
    const auto name_bytes = static_cast<std::size_t>(name_end - name.begin());
    FERRY_TRY(check_zeros(bytes, entry + 32 + name_bytes, entry + kEntryBytes));
    sections.push_back({static_cast<SectionKind>(kind), text_of(name.first(name_bytes)),
                        bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length)), device});
    next = aligned(next + length);
    if (next > end) return refuse(entry + 16, "a section that ends before the hash at", end, next);
    FERRY_TRY(check_zeros(bytes, static_cast<std::size_t>(offset + length), static_cast<std::size_t>(next)));
  }
  if (next != end) return refuse(next, "the hash at the end, at", end, next);
  return sections;
}

}  // namespace

std::string CodeImage::name() const {
  std::string name = image_kind_name(kind);
  if (!name.empty() && !arch.empty()) name += '-';
  return name + arch;
}

Result<std::uint64_t> module_length(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes || !std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin())) {
    return refuse(0, "a .ferry file, which begins with FERRYMOD", "other bytes");
  }
  return get<std::uint64_t>(bytes, 16);
}

std::vector<std::uint8_t> write_module(const ModuleFile& module) {
  const std::vector<std::uint8_t> manifest = encode_manifest(module.manifest);
  std::vector<Section> sections{{SectionKind::manifest, "", manifest}};
  for (const CodeImage& image : module.images) {
    sections.push_back({SectionKind::code, image.name(), image.bytes, image.device});
  }
  sections.push_back({SectionKind::source, "", bytes_of(module.source)});
  sections.push_back({SectionKind::schedule, "", bytes_of(module.schedule)});
  if (!module.descriptions.empty()) sections.push_back({SectionKind::descriptions, "", module.descriptions});

  std::uint64_t length = kHeaderBytes + sections.size() * kEntryBytes;
  for (const Section& section : sections) length = aligned(length + section.bytes.size());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(length));
  std::copy(std::begin(kMagic), std::end(kMagic), bytes.begin());
  put(bytes, 8, kModuleFormatVersion);
  put(bytes, 12, static_cast<std::uint32_t>(sections.size()));
  put(bytes, 16, length + kHashBytes);

  std::size_t entry = kHeaderBytes;
  std::uint64_t offset = kHeaderBytes + sections.size() * kEntryBytes;
  for (const Section& section : sections) {
    put(bytes, entry, static_cast<std::uint32_t>(section.kind));
    put(bytes, entry + 4, section.device);
    put(bytes, entry + 8, offset);
    put(bytes, entry + 16, static_cast<std::uint64_t>(section.bytes.size()));
    std::copy_n(section.name.begin(), std::min(section.name.size(), kEntryNameBytes),
                bytes.begin() + static_cast<std::ptrdiff_t>(entry + 32));
    std::copy(section.bytes.begin(), section.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    entry += kEntryBytes;
    offset = aligned(offset + section.bytes.size());
  }
  const Hash hash = blake2b(bytes);
  bytes.resize(bytes.size() + kHashBytes);
  std::copy(hash.begin(), hash.end(), bytes.end() - static_cast<std::ptrdiff_t>(kHashBytes));
  return bytes;
}

Result<ModuleFile> read_module(std::span<const std::uint8_t> bytes) {
  FERRY_TRY(check_envelope(bytes));
  FERRY_TRY(check_hash(bytes));
  return read_module_again(bytes);
}

Result<ModuleFile> read_module_again(std::span<const std::uint8_t> bytes) {
  FERRY_TRY(check_envelope(bytes));
  FERRY_ASSIGN(const std::vector<Section> sections, read_sections(bytes));
  ModuleFile module;
  const auto version = get<std::uint32_t>(bytes, 8);
  unsigned seen[7] = {};
  Bytes manifest, launches;
  for (const Section& section : sections) {
    const auto place = static_cast<std::uint64_t>(section.bytes.data() - bytes.data());
    if (++seen[static_cast<std::size_t>(section.kind)] > 1 && section.kind != SectionKind::code) {
      return refuse(place, "one section of each kind but code", "another");
    }
    if ((section.kind == SectionKind::code) == section.name.empty()) {
      return refuse(place, "a code section with a name, another without", "'" + section.name + "'");
    }
    switch (section.kind) {
      case SectionKind::manifest: manifest = section.bytes; break;
      case SectionKind::code: {
        std::string arch = section.name;
        const ImageKind kind = take_image_kind(arch);
        module.images.push_back({kind, {section.bytes.begin(), section.bytes.end()}, section.device, std::move(arch)});
        break;
      }
      case SectionKind::source: module.source = text_of(section.bytes); break;
      case SectionKind::schedule: module.schedule = text_of(section.bytes); break;
      case SectionKind::launches: launches = section.bytes; break;
      case SectionKind::descriptions: module.descriptions.assign(section.bytes.begin(), section.bytes.end()); break;
    }
  }
  if (seen[1] == 0) return refuse(kHeaderBytes, "a manifest section", "none");
  if (seen[6] != 0 && module.descriptions.empty()) return refuse(kHeaderBytes, "descriptions of steps", "none");
  if (version < kVersionWithPlans) {
    FERRY_ASSIGN(module.manifest, decode_earlier_manifest(version, manifest, seen[5] == 0 ? nullptr : &launches));
  } else {
    FERRY_ASSIGN(module.manifest, decode_manifest(manifest));
  }
  for (const CodeImage& image : module.images) {
    if (image.device < module.manifest.devices.size()) continue;
    return refuse(kHeaderBytes, "code for a device below", module.manifest.devices.size(), image.device);
  }
  return module;
}

}  // namespace ferry
