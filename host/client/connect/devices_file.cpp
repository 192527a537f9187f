#include "host/client/connect/devices_file.h"

#include <toml++/toml.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/suggest.h"
#include "base/throw_status.h"
#include "rpc/secure/key.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::session {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const toml::source_region& where, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, path + ":" + std::to_string(where.begin.line) + ": " + why);
}

std::string text_of(const std::string& path, const std::string& device, const toml::key& key, const toml::node& value) {
  if (const auto text = value.value<std::string>(); text && !text->empty()) return *text;
  refuse(path, value.source(),
         device + "." + std::string(key.str()) + ": expected a text, as in " + std::string(key.str()) + " = \"...\"");
}

std::string key_path(const std::string& path, const std::string& key) {
  if (key.rfind("~/", 0) == 0) {
    const char* home = getenv("HOME");
    return std::string(home != nullptr ? home : "") + key.substr(1);
  }
  return (fs::path(path).parent_path() / key).string();
}

NamedDevice read_device(const std::string& path, const std::string& name, const toml::table& table) {
  NamedDevice device{name, "", "", ""};
  for (const auto& [key, value] : table) {
    if (key == "address") {
      device.address = text_of(path, name, key, value);
    } else if (key == "farm") {
      device.farm = text_of(path, name, key, value);
      if (const auto trackers = parse_tcp_addresses(device.farm, 1); !trackers.is_ok()) {
        refuse(path, value.source(), name + ".farm: " + trackers.status().message());
      }
    } else if (key == "key") {
      device.key_file = key_path(path, text_of(path, name, key, value));
    } else {
      refuse(path, key.source(), name + ": expected address, farm or key, got '" + std::string(key.str()) + "'");
    }
  }
  if (device.address.empty() == device.farm.empty()) {
    refuse(path, table.source(),
           name + (device.farm.empty() ? ": expected an address, as in address = \"HOST:PORT\""
                                       : ": expected an address or a farm, got both"));
  }
  return device;
}

}  // namespace

std::string devices_file() {
  if (const char* named = getenv("FERRY_DEVICES"); named != nullptr && *named != 0) return named;
  const std::string folder = secure::config_folder();
  return folder.empty() ? folder : folder + "/devices.toml";
}

std::vector<NamedDevice> read_devices(const std::string& path) {
  if (path.empty() || !fs::exists(path)) return {};
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::invalid_argument, path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<NamedDevice> devices;
  try {
    const toml::table table = toml::parse(text, path);
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      const toml::table* const entry = value.as_table();
      if (entry == nullptr) refuse(path, key.source(), "expected a device, as in [" + name + "], got a value");
      devices.push_back(read_device(path, name, *entry));
    }
  } catch (const toml::parse_error& error) {
    refuse(path, error.source(), std::string(error.description()));
  }
  return devices;
}

std::string suggest_device(std::string_view name, const std::vector<NamedDevice>& devices) {
  std::vector<std::string> names;
  for (const NamedDevice& device : devices) names.push_back(device.name);
  const auto nearest = nearest_names(name, names, 1);
  return nearest.empty() ? "" : " (the nearest is '" + nearest.front() + "')";
}

}  // namespace ferry::session
