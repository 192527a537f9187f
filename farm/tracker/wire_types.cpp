#include "farm/tracker/wire_types.h"

#include <algorithm>
#include <cctype>

#include "base/format.h"

namespace ferry::farm {
namespace {

// The words of firmware, and what people call them.
struct KnownModel {
  std::string_view start;
  std::string_view name;
};
constexpr KnownModel kKnownModels[] = {
    {"Raspberry Pi 3", "rpi3"},
    {"Raspberry Pi 4", "rpi4"},
    {"Raspberry Pi 5", "rpi5"},
    {"Raspberry Pi 2", "rpi2"},
    {"Raspberry Pi Zero 2", "rpizero2"},
    {"Raspberry Pi Compute Module 4", "rpicm4"},
    {"Raspberry Pi 400", "rpi400"},
    {"NVIDIA Jetson Nano", "jetson-nano"},
    {"NVIDIA Jetson AGX Orin", "orin"},
    {"NVIDIA Jetson Orin Nano", "orin-nano"},
    {"NVIDIA Jetson AGX Xavier", "xavier"},
};

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Ten years, so that no sum with the time of day overflows. The lease machine refuses what is too long, and says what
// was asked for.
constexpr std::uint64_t kMostMilliseconds = std::uint64_t{3650} * 86'400'000;

Duration duration_of(std::uint64_t count) {
  return Duration(static_cast<Duration::rep>(std::min(count, kMostMilliseconds)));
}

}  // namespace

std::string fit(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && is_continuation(text[most])) --most;
  return std::string(text.substr(0, most));
}

std::string model_name(std::string_view firmware_name) {
  const KnownModel* best = nullptr;
  for (const KnownModel& one : kKnownModels)
    if (firmware_name.starts_with(one.start) && (best == nullptr || one.start.size() > best->start.size())) best = &one;
  if (best != nullptr) return std::string(best->name);
  std::string name;
  for (const char letter : firmware_name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_') {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return fit(name, wire::kMaxName);
}

// Texts that were made printable may have grown beyond the limits of the protocol, and then beyond the database's.
BoardDescription from_wire(const wire::Description& description) {
  BoardDescription board;
  board.model = model_name(description.model);
  board.arch = fit(description.arch, wire::kMaxName);
  board.cpu = fit(description.cpu, wire::kMaxText);
  board.memory_bytes = description.memory_bytes;
  board.cores = description.cores;
  for (const std::string& feature : description.features) board.features.push_back(fit(feature, wire::kMaxName));
  for (const wire::Accelerator& one : description.accelerators)
    board.devices.push_back({fit(one.kind, wire::kMaxName), fit(one.arch, wire::kMaxName)});
  for (const wire::Label& tag : description.tags)
    board.tags[fit(tag.name, wire::kMaxName)] = fit(tag.value, wire::kMaxText);
  return board;
}

wire::Description to_wire(const BoardDescription& board, const std::string& server_version) {
  wire::Description description;
  description.model = fit(board.model, wire::kMaxText);
  description.arch = fit(board.arch, wire::kMaxName);
  description.cpu = fit(board.cpu, wire::kMaxText);
  description.server_version = fit(server_version, wire::kMaxName);
  description.memory_bytes = board.memory_bytes;
  description.cores = board.cores;
  for (const std::string& feature : board.features)
    if (description.features.size() < wire::kMaxFeatures) description.features.push_back(fit(feature, wire::kMaxName));
  for (const BoardDevice& device : board.devices)
    if (description.accelerators.size() < wire::kMaxBoardDevices)
      description.accelerators.push_back({fit(device.kind, wire::kMaxName), fit(device.arch, wire::kMaxName)});
  for (const auto& [name, value] : board.tags)
    if (description.tags.size() < wire::kMaxTags)
      description.tags.push_back({fit(name, wire::kMaxName), fit(value, wire::kMaxText)});
  return description;
}

Result<Request> from_wire(const wire::LeaseRequest& asked, const std::string& holder) {
  Request request;
  if (asked.id == 0) return Status(ErrorCode::invalid_argument, "a request's id: expected another number than 0");
  request.id = LeaseId{asked.id};
  request.holder = holder;
  for (const std::string& text : asked.slots) {
    FERRY_ASSIGN(Selector selector, parse_selector(text));
    request.slots.push_back(std::move(selector));
  }
  request.priority = asked.priority;
  request.length = duration_of(asked.length_ms);
  request.wait = duration_of(asked.wait_ms);
  request.kind = from_wire(asked.kind);
  request.job = fit(asked.job, wire::kMaxText);
  return request;
}

std::optional<std::uint64_t> to_wire(const std::optional<Duration>& duration) {
  if (!duration) return std::nullopt;
  return to_wire(*duration);
}

std::vector<std::string> slot_texts(const Request& request) {
  std::vector<std::string> texts;
  for (const Selector& selector : request.slots) texts.push_back(fit(to_text(selector), wire::kMaxSelector));
  return texts;
}

}  // namespace ferry::farm
