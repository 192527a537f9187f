// devices.toml, in which the user names devices:
//
//     [pi]
//     address = "192.168.1.17:9090"      # or "ssh://user@host", "plaintext://127.0.0.1:9090"
//     key = "pi.key"                     # beside this file; "~/..." and absolute paths work too
//
// and farms, whose boards are then "farm://lab/SELECTOR", also as an address of a device:
//
//     [lab]
//     farm = "tracker:9191"              # or several, separated by commas
//     key = "alice.key"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferry::session {

struct NamedDevice {
  std::string name;
  std::string address;   // empty: the entry is a farm
  std::string farm;      // its trackers; empty: the entry is a device
  std::string key_file;  // absolute; empty if none is given
};

// Returns ~/.config/ferry/devices.toml, or its equivalent under XDG_CONFIG_HOME; FERRY_DEVICES names another file.
// Empty if the user has no home directory.
std::string devices_file();

// Returns the devices in the order of the file; none if the file does not exist. Throws Error with
// invalid_argument that names file and line.
std::vector<NamedDevice> read_devices(const std::string& path);

// Returns " (the nearest is 'pi')", or nothing if there are no devices.
std::string suggest_device(std::string_view name, const std::vector<NamedDevice>& devices);

}  // namespace ferry::session
