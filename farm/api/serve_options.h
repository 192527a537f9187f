// The options of 'ferry farm serve'.
#pragma once

#include <string>

namespace ferry::farm {

struct ServeOptions {
  std::string listen = "127.0.0.1:9191";  // HOST:PORT for boards and clients; port 0: any free one
  std::string http;                       // HOST:PORT of the page and the HTTP interface; empty: there is none
  bool behind_proxy = false;
  std::string database = "farm.db";  // a path, or a URI of PostgreSQL
  std::string key_file;              // contains the master key; empty: FARM.key beside the database, or here
  std::string config;                // farm.toml; empty: none
};

}  // namespace ferry::farm
