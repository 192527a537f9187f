#include "device-runtime/supervisor/farm_arguments.h"

#include <algorithm>

#include "base/format.h"
#include "base/printable.h"

namespace ferry::device {
namespace {

using farm::wire::kMaxName;
using farm::wire::kMaxTags;
using farm::wire::kMaxText;

constexpr std::uint16_t kDefaultPort = 9191;
constexpr std::size_t kMaxTrackers = 8;
// Beside everything else that a join says.
constexpr std::size_t kMaxTagBytes = 4096;

Status refuse_value(std::string_view option, const std::string& expected, std::string_view got) {
  return {ErrorCode::invalid_argument,
          std::string(option) + ": expected " + expected + ", got '" + std::string(got) + "'"};
}

bool is_word(std::string_view text, std::size_t most) { return text.size() <= most && printable(text) == text; }

Status set_trackers(std::vector<TcpAddress>& trackers, std::string_view value) {
  trackers.clear();
  while (true) {
    const std::size_t end = std::min(value.find(','), value.size());
    const auto address = parse_tcp_address(value.substr(0, end), kDefaultPort);
    if (!address.is_ok()) return {ErrorCode::invalid_argument, "--farm: " + address.status().message()};
    trackers.push_back(address.value());
    if (trackers.size() > kMaxTrackers) return {ErrorCode::invalid_argument, "--farm: expected at most 8 trackers"};
    if (end == value.size()) return {};
    value.remove_prefix(end + 1);
  }
}

Status add_tag(std::vector<farm::wire::Label>& tags, std::string_view value) {
  const std::size_t equals = std::min(value.find('='), value.size());
  const std::string_view name = value.substr(0, equals);
  const std::string_view text = value.substr(std::min(equals + 1, value.size()));
  if (name.empty() || !is_word(name, kMaxName) || !is_word(text, kMaxText))
    return refuse_value("--tag", "NAME or NAME=VALUE, at most 64 and 256 bytes", value);
  tags.push_back({std::string(name), std::string(text)});
  std::size_t bytes = 0;
  for (const farm::wire::Label& tag : tags) bytes += tag.name.size() + tag.value.size();
  if (tags.size() <= kMaxTags && bytes <= kMaxTagBytes) return {};
  return {ErrorCode::invalid_argument, "--tag: expected at most 32 tags, and 4096 bytes together"};
}

}  // namespace

Status set_farm_option(FarmOptions& farm, std::string_view option, std::string_view value) {
  if (option == "--farm") return set_trackers(farm.trackers, value);
  if (option == "--tag") return add_tag(farm.tags, value);
  if (value.empty()) return refuse_value(option, option == "--name" ? "a name" : "a file", value);
  if (option == "--farm-key") {
    farm.key_file = value;
    return {};
  }
  if (!is_word(value, kMaxName)) return refuse_value(option, "at most 64 printable bytes", value);
  farm.name = value;
  return {};
}

Status check_farm(const Arguments& arguments) {
  const ServerOptions& server = arguments.server;
  const FarmOptions& farm = server.farm;
  const auto refuse = [](const char* message) { return Status(ErrorCode::invalid_argument, message); };
  if (farm.trackers.empty()) {
    if (farm.key_file.empty() && farm.name.empty() && farm.tags.empty()) return {};
    return refuse("--farm: expected HOST:PORT of a tracker with --farm-key, --name or --tag");
  }
  if (farm.key_file.empty()) return refuse("--farm-key: expected the key of this board, with --farm");
  if (arguments.workdir.empty())
    return refuse("--workdir: expected a folder that lasts, with --farm: it holds which leases are over");
  if (server.stdio || server.inherited_socket >= 0) return refuse("--farm: expected a server that listens");
  if (arguments.insecure_plaintext || !arguments.key_file.empty())
    return refuse("--farm: expected no --key-file and no --insecure-plaintext: clients hold the keys of their leases");
  if (server.max_sessions != 1) return refuse("--sessions: expected 1 with --farm: a lease is one client's");
  return {};
}

}  // namespace ferry::device
