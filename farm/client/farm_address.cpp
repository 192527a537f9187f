#include "farm/client/farm_address.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/quantity.h"
#include "base/suggest.h"
#include "base/throw_status.h"
#include "farm/protocol/messages.h"
#include "host/client/client.h"
#include "host/client/connect/devices_file.h"

namespace ferry::farm {

namespace {

using session::devices_file;
using session::NamedDevice;
using session::read_devices;
using std::chrono::milliseconds;

constexpr std::uint32_t kMostPriority = 100;
constexpr const char* kForm = "farm://FARM/SELECTOR[?priority=N&length=30m&wait=10m&job=TEXT]";

[[noreturn]] void refuse_farm(const std::string& why) { throw Error(ErrorCode::invalid_argument, why); }

// The text may hold what ends an option, or what a shell would change, as in "nightly%20run".
std::string decode_job(std::string_view text) {
  std::string job;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      job += text[i];
      continue;
    }
    std::uint8_t byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + digits.size()) {
      refuse_farm("job: expected two hexadecimal digits after each %, got '" + std::string(text) + "'");
    }
    job += static_cast<char>(byte);
    i += digits.size();
  }
  if (job.empty()) refuse_farm("job: expected a text, got ''");
  return job;
}

void set_option(FarmAddress& address, std::string_view option) {
  const std::size_t equals = option.find('=');
  const std::string name(option.substr(0, equals));
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : option.substr(equals + 1);
  if (name == "priority") {
    address.priority = parse_priority(value, "priority");
  } else if (name == "length") {
    address.length = parse_time_span(value, name);
  } else if (name == "wait") {
    address.wait = parse_time_span(value, name);
  } else if (name == "job") {
    address.job = decode_job(value);
  } else {
    refuse_farm("expected priority, length, wait or job after the selector of a farm, got '" + name + "'");
  }
}

// Names in devices.toml and addresses that are written alike mean the same farm.
bool is_called(const NamedDevice& device, std::string_view farm, const Result<std::vector<TcpAddress>>& trackers) {
  if (device.farm.empty()) return false;
  if (device.name == farm) return true;
  const auto its_trackers = parse_trackers(device.farm);
  return trackers.is_ok() && its_trackers.is_ok() && to_text(trackers.value()) == to_text(its_trackers.value());
}

const NamedDevice* only_farm(const std::vector<NamedDevice>& devices) {
  const auto is_farm = [](const NamedDevice& device) { return !device.farm.empty(); };
  const auto first = std::find_if(devices.begin(), devices.end(), is_farm);
  if (first == devices.end()) {
    refuse_farm("expected a farm (--farm NAME|HOST:PORT or FERRY_FARM): there is none in " + devices_file());
  }
  if (std::find_if(first + 1, devices.end(), is_farm) != devices.end()) {
    refuse_farm("expected one of the farms in " + devices_file() + " (--farm NAME or FERRY_FARM)");
  }
  return &*first;
}

std::string key_file_for(const NamedDevice* entry) {
  if (entry != nullptr && !entry->key_file.empty()) return entry->key_file;
  const char* named = getenv("FERRY_KEY_FILE");
  return named != nullptr ? named : "";
}

std::string nearest_farm(std::string_view farm, const std::vector<NamedDevice>& devices) {
  std::vector<NamedDevice> farms;
  for (const NamedDevice& device : devices)
    if (!device.farm.empty()) farms.push_back(device);
  if (farms.empty() || farm.find_first_of(".:[,") != std::string_view::npos) return "";
  return ", and no farm '" + std::string(farm) + "' in " + devices_file() + session::suggest_device(farm, farms);
}

}  // namespace

std::uint32_t parse_priority(std::string_view text, const std::string& what) {
  std::uint32_t priority = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), priority);
  if (error != std::errc() || end != text.data() + text.size() || priority > kMostPriority) {
    refuse_farm(what + ": expected a number from 0 to 100, got '" + std::string(text) + "'");
  }
  return priority;
}

milliseconds parse_time_span(std::string_view text, const std::string& what) {
  const auto span = parse_span(text);
  if (!span) refuse_farm(what + ": expected a time such as 90s, 30m, 1h30m or 2d, got '" + std::string(text) + "'");
  return milliseconds(*span);
}

FarmAddress parse_farm_address(std::string_view text) {
  std::string_view rest = text.substr(std::min(text.size(), kFarmScheme.size()));
  FarmAddress address;
  std::string_view options;
  const std::size_t slash = rest.find('/');
  address.farm = rest.substr(0, slash);
  if (slash != std::string_view::npos) {
    rest.remove_prefix(slash + 1);
    const std::size_t mark = rest.find('?');
    address.selector = rest.substr(0, mark);
    if (mark != std::string_view::npos) options = rest.substr(mark + 1);
  }
  if (address.farm.empty() || address.selector.empty()) {
    refuse_farm(std::string("expected ") + kForm + ", got '" + std::string(text) + "'");
  }
  if (address.selector.size() > wire::kMaxSelector) {
    refuse_farm("expected a selector of at most " + std::to_string(wire::kMaxSelector) + " bytes, got " +
                std::to_string(address.selector.size()));
  }
  while (!options.empty()) {
    const std::size_t end = options.find('&');
    set_option(address, options.substr(0, end));
    options = end == std::string_view::npos ? std::string_view() : options.substr(end + 1);
  }
  return address;
}

FarmAccess find_farm(std::string_view farm, const std::string& key_file) {
  const std::vector<NamedDevice> devices = read_devices(devices_file());
  const auto as_address = parse_trackers(farm);
  const NamedDevice* entry = nullptr;
  if (farm.empty()) {
    entry = only_farm(devices);
  } else {
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const NamedDevice& device) { return is_called(device, farm, as_address); });
    if (found != devices.end()) entry = &*found;
  }
  FarmAccess access;
  access.name = farm.empty() ? entry->name : std::string(farm);
  access.trackers = entry != nullptr ? value_or_throw(parse_trackers(entry->farm)) : value_or_throw(as_address);
  access.key_file = key_file.empty() ? key_file_for(entry) : key_file;
  if (access.key_file.empty()) {
    throw Error(ErrorCode::not_found,
                "there is no key for the farm " + access.name + nearest_farm(farm, devices) +
                    ". An admin of the farm makes one with 'ferry farm enrol --client NAME'; name it with --key-file, "
                    "FERRY_KEY_FILE or in " +
                    devices_file());
  }
  access.key = value_or_throw(secure::read_key_file(access.key_file));
  access.client = session::client_name();
  return access;
}

std::optional<std::string> farm_of(std::string_view remote) {
  if (remote.starts_with(kFarmScheme)) return parse_farm_address(remote).farm;
  if (remote.empty() || remote.find("://") != std::string_view::npos) return std::nullopt;
  for (const NamedDevice& device : read_devices(devices_file())) {
    if (device.name == remote && device.address.starts_with(kFarmScheme))
      return parse_farm_address(device.address).farm;
  }
  return std::nullopt;
}

}  // namespace ferry::farm
