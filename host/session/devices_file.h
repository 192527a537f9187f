// devices.toml, where a person gives devices names:
//
//     [pi]
//     address = "192.168.1.17:9090"      # or "ssh://user@host", "plaintext://127.0.0.1:9090"
//     key = "pi.key"                     # beside this file; "~/..." and absolute paths work too
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ferry::session {

struct NamedDevice {
  std::string name;
  std::string address;
  std::string key_file;  // absolute; empty where none is named
};

// ~/.config/ferry/devices.toml, or beside it as XDG_CONFIG_HOME says; FERRY_DEVICES names another file. Empty when the
// user has no home.
std::string devices_file();

// In the order of the file; none when there is no file. RemoteError with invalid_argument names file and line.
std::vector<NamedDevice> read_devices(const std::string& path);

// " (the nearest is 'pi')", or nothing when there are no devices.
std::string suggest_device(std::string_view name, const std::vector<NamedDevice>& devices);

}  // namespace ferry::session
