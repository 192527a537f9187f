// The style sheet, the script and the icon of the pages, which the program contains.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ferry::farm::http {

struct Asset {
  std::string_view name;
  std::string_view hash;  // changes with the contents
  std::string_view type;
  std::string_view contents;
};

// All of them; the definition is made from the files of the folder assets/.
std::span<const Asset> assets();
// Returns the path of an asset, which names its contents, so that browsers can keep it forever.
std::string asset_path(std::string_view name);
// Returns the asset with this path; null if there is none.
const Asset* find_asset(std::string_view path);

}  // namespace ferry::farm::http
