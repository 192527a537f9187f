#include <memory>

#include "base/quantity_text.h"
#include "farm/cli/farm_command.h"
#include "farm/cli/farm_listing.h"
#include "farm/protocol/shown_state.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

std::string temperature_text(const wire::DeviceListing& device) {
  const std::string throttled = device.is_throttled ? "throttled" : "";
  if (!device.millidegrees) return device.is_throttled ? throttled : "-";
  return format("%.1f C", *device.millidegrees / 1000.0) + (device.is_throttled ? ", " + throttled : "");
}

std::string server_text(const wire::DeviceListing& device) {
  // Where nothing is installed, each client brings its own server.
  if (device.transport == "ssh") return "by ssh";
  const std::string& version = device.description.server_version;
  return version.empty() ? "-" : version == FERRY_VERSION ? version : version + " (not " FERRY_VERSION ")";
}

// Says in the cells what follows from several fields.
bool change_fields(const wire::DeviceListing& device, std::vector<farm::ShownField>& fields) {
  const std::string shown = farm::shown_state(device.state, device.is_connected);
  farm::field_of(fields, "state").cell = shown == device.state ? shown : shown + " (was " + device.state + ")";
  farm::field_of(fields, "celsius").cell = temperature_text(device);
  farm::field_of(fields, "server_version").cell = server_text(device);
  const bool is_ours = device.transport == "ssh" || device.description.server_version == FERRY_VERSION;
  fields.push_back({"is_our_version", is_ours, ""});
  return true;
}

int list_devices(const FarmOptions& options, const std::string& selector) {
  return print_listing(options, wire::ListDevices{selector, ""},
                       {{"BOARD", "name"},
                        {"STATE", "state"},
                        {"HOLDER", "holder"},
                        {"LEASE", "lease"},
                        {"FREE IN", "remaining_seconds"},
                        {"TEMPERATURE", "celsius"},
                        {"LOAD", "load"},
                        {"SERVER", "server_version"},
                        {"ARCH", "arch"},
                        {"MODEL", "model"},
                        {"SAME MACHINE", "same_machine"}},
                       selector.empty() ? "the farm has no boards" : "no board matches '" + selector + "'", SIZE_MAX,
                       change_fields);
}

}  // namespace

void add_farm_devices(CLI::App& farm, Action& chosen) {
  struct Options {
    FarmOptions farm;
    std::string selector;
  };
  auto options = std::make_shared<Options>();
  CLI::App& command = *farm.add_subcommand("devices", "Show the boards, who has them and how they are");
  command.add_option("selector", options->selector, "Only boards that match, such as rpi4 or arch=aarch64,cores>=4")
      ->type_name("SELECTOR");
  add_farm_listing_options(command, options->farm);
  command.footer(
      "Examples:\n"
      "  ferry farm devices 'memory>=2G,tag:bench'\n"
      "  ferry farm devices --json | jq '.devices[] | select(.holder == null) | .name'");
  command.callback([options, &chosen] {
    chosen = [options](const Compiler*) { return list_devices(options->farm, options->selector); };
  });
}

}  // namespace ferry::cli
