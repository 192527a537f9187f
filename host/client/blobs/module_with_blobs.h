// Files and byte sequences that contain a module and, after it, the contents of its blobs (module/MODULE.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ferry/blob_source.h"
#include "module/module_file.h"

namespace ferry {

struct ModuleWithBlobs {
  std::vector<std::uint8_t> bytes;  // the module's, without its blobs
  ModuleFile module;
  std::shared_ptr<const BlobSource> blobs;  // null: the file contains none
};

// Both throw Error with invalid_argument, or version_mismatch, when there is something else. The contents of blobs stay
// in the file, which is read when they are.
ModuleWithBlobs read_module_file(const std::string& file);
ModuleWithBlobs divide_module(std::vector<std::uint8_t> bytes);

// Replaces the file once everything has been written; "-" is standard output. The contents of blobs are left out unless
// `blobs` has all of them. Returns 0, or the errno of the failure.
int write_module_file(const std::string& file, std::span<const std::uint8_t> module, const Manifest& manifest,
                      const BlobSource* blobs);

}  // namespace ferry
