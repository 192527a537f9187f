#include "farm/web/pages/assets.h"

namespace ferry::farm::http {
namespace {

std::string path_of(const Asset& asset) { return "/assets/" + std::string(asset.hash) + "/" + std::string(asset.name); }

}  // namespace

std::string asset_path(std::string_view name) {
  for (const Asset& asset : assets()) {
    if (asset.name == name) return path_of(asset);
  }
  return "/assets/missing";
}

const Asset* find_asset(std::string_view path) {
  for (const Asset& asset : assets()) {
    if (path == path_of(asset)) return &asset;
  }
  return nullptr;
}

}  // namespace ferry::farm::http
