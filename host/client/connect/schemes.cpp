#include "host/client/connect/schemes.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/client/connect/lease_file.h"
#include "host/client/connect/plaintext.h"
#include "host/client/connect/ssh.h"
#include "host/client/connect/tcp.h"

namespace ferry::session {

namespace {

Remote read_remote(std::string_view text, const std::string& key_file) {
  Remote remote{std::string(text), key_file, read_devices(devices_file()), {}, std::string(text)};
  const auto named = std::ranges::find(remote.devices, remote.text, &NamedDevice::name);
  if (named == remote.devices.end()) return remote;
  remote.entry = *named;
  remote.address = named->address;
  return remote;
}

}  // namespace

// Messages name plaintext:// last.
Schemes::Schemes() : schemes_{tcp_scheme(), ssh_scheme(), lease_file_scheme(), plaintext_scheme()} {}

void Schemes::add(Scheme scheme) {
  const auto same = std::ranges::find(schemes_, scheme.prefix, &Scheme::prefix);
  if (same != schemes_.end()) {
    *same = std::move(scheme);
  } else {
    schemes_.insert(schemes_.end() - 1, std::move(scheme));
  }
}

const Scheme* Schemes::find(std::string_view address) const {
  for (const Scheme& scheme : schemes_)
    if (!scheme.prefix.empty() && address.starts_with(scheme.prefix)) return &scheme;
  return address.find("://") == std::string_view::npos ? &schemes_.front() : nullptr;
}

const Scheme& Schemes::expect(const std::string& address) const {
  if (const Scheme* scheme = find(address)) return *scheme;
  std::vector<std::string> forms;
  for (const Scheme& scheme : schemes_)
    if (!scheme.form.empty()) forms.emplace_back(scheme.form);
  const std::string last = forms.back();
  forms.pop_back();
  throw Error(ErrorCode::invalid_argument, "expected " + join(", ", forms) + " or " + last + ", got '" + address + "'");
}

std::shared_ptr<Connector> Schemes::connector(std::string_view text, const std::string& key_file) const {
  const Remote remote = read_remote(text, key_file);
  if (remote.entry && !remote.entry->farm.empty()) {
    throw Error(ErrorCode::invalid_argument, remote.entry->name +
                                                 " is a farm: expected a selector of boards, as in farm://" +
                                                 remote.entry->name + "/SELECTOR");
  }
  return expect(remote.address).connector(remote, {});
}

Connectors Schemes::shared_connectors(const std::vector<std::string>& texts, const std::string& key_file) const {
  Connectors connectors;
  for (const std::string& text : texts) {
    const Remote remote = read_remote(text, key_file);
    const Scheme* scheme = find(remote.address);
    connectors.push_back(scheme != nullptr && scheme->is_leased ? scheme->connector(remote, connectors) : nullptr);
  }
  return connectors;
}

bool Schemes::is_on_this_machine(std::string_view text) const {
  if (text.empty()) return true;
  const Remote remote = read_remote(text, "");
  const Scheme* scheme = find(remote.address);
  return scheme != nullptr && scheme->is_on_this_machine && scheme->is_on_this_machine(remote.address);
}

}  // namespace ferry::session
