#include <memory>

#include "base/quantity_text.h"
#include "farm/cli/farm_command.h"
#include "farm/cli/farm_options.h"
#include "farm/protocol/lease_id.h"
#include "farm/protocol/shown_state.h"

namespace ferry::cli {

namespace {

namespace wire = farm::wire;

const std::vector<Listing::Column>& device_columns() {
  static const std::vector<Listing::Column> columns{{"BOARD", "name"},
                                                    {"STATE", "state"},
                                                    {"", "connected"},
                                                    {"HOLDER", "holder"},
                                                    {"LEASE", "lease"},
                                                    {"TEMPERATURE", "celsius"},
                                                    {"", "throttled"},
                                                    {"LOAD", "load"},
                                                    {"SERVER", "server_version"},
                                                    {"", "is_our_version"},
                                                    {"", "transport"},
                                                    {"ARCH", "arch"},
                                                    {"MODEL", "model"},
                                                    {"SAME MACHINE", "neighbours"},
                                                    {"", "blocked_by"},
                                                    {"", "cpu"},
                                                    {"", "cores"},
                                                    {"", "memory_bytes"},
                                                    {"", "features"},
                                                    {"", "accelerators"},
                                                    {"", "tags"}};
  return columns;
}

std::string temperature_text(const wire::DeviceListing& device) {
  const std::string throttled = device.is_throttled ? "throttled" : "";
  if (!device.millidegrees) return device.is_throttled ? throttled : "-";
  return format("%.1f C", *device.millidegrees / 1000.0) + (device.is_throttled ? ", " + throttled : "");
}

Json tags_json(const std::vector<wire::Label>& tags) {
  Json json = Json::object();
  for (const wire::Label& tag : tags) json[tag.name] = tag.value;
  return json;
}

Json accelerators_json(const std::vector<wire::Accelerator>& accelerators) {
  Json json = Json::array();
  for (const wire::Accelerator& one : accelerators) json.push_back({{"kind", one.kind}, {"arch", one.arch}});
  return json;
}

// The cell of a board that has not said it yet.
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string server_text(const wire::DeviceListing& device) {
  // Where nothing is installed, each client brings its own server.
  if (device.transport == "ssh") return "by ssh";
  const std::string& version = device.description.server_version;
  return version.empty() || version == FERRY_VERSION ? or_dash(version) : version + " (not " FERRY_VERSION ")";
}

void add_row(const wire::DeviceListing& device, Listing& listing) {
  const wire::Description& about = device.description;
  listing.add(device.name);
  const std::string shown = farm::shown_state(device.state, device.is_connected);
  listing.add(shown == device.state ? shown : shown + " (was " + device.state + ")", device.state);
  listing.add_flag(device.is_connected);
  listing.add_unless_empty(device.holder);
  listing.add_unless_empty(device.lease == 0 ? "" : farm::lease_text(device.lease));
  listing.add(temperature_text(device), device.millidegrees ? Json(*device.millidegrees / 1000.0) : Json());
  listing.add_flag(device.is_throttled);
  listing.add_decimal(device.load_permille / 1000.0, format("%.2f", device.load_permille / 1000.0));
  listing.add(server_text(device), about.server_version);
  listing.add_flag(device.transport == "ssh" || about.server_version == FERRY_VERSION);
  listing.add("", device.transport.empty() ? Json() : Json(device.transport));
  listing.add(or_dash(about.arch), about.arch);
  listing.add(or_dash(about.model), about.model);
  listing.add_list(device.neighbours);
  listing.add("", device.blocked_by.empty() ? Json() : Json(device.blocked_by));
  listing.add(about.cpu);
  listing.add_number(about.cores);
  listing.add_number(about.memory_bytes);
  listing.add_list(about.features);
  listing.add("", accelerators_json(about.accelerators));
  listing.add("", tags_json(about.tags));
}

int list_devices(const FarmOptions& options, const std::string& selector) {
  farm::TrackerConnection connection = connect_farm(options);
  Listing listing("ferry.farm.devices/1", "devices", device_columns());
  wire::ListDevices query{selector, ""};
  for_each_page(connection, query, [&](const wire::DevicePage& page) {
    for (const wire::DeviceListing& device : page.devices) add_row(device, listing);
    if (page.devices.empty()) return false;
    query.after = page.devices.back().name;
    return true;
  });
  const std::string none = selector.empty() ? "the farm has no boards" : "no board matches '" + selector + "'";
  listing.print(options.json, none);
  return kExitFine;
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
