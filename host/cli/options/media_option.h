// Inputs from pictures, sound and archives of arrays.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/kernel.h"

namespace ferry::cli {

// Replaces arguments that name such files by their contents (host/media/media_arguments.h).
using ReadMedia = void (*)(const KernelSource& source, const std::string& function, const std::string& preprocess,
                           CallOptions& call, const Observer& observer);

struct MediaOption {
  ReadMedia read = nullptr;  // null in a ferry that reads .npy files alone
  std::string preprocess;
};

// Adds --preprocess if such files can be read.
void add_media_option(CLI::App& command, MediaOption& media, ReadMedia read);

// Reads them. Throws UsageError for one where that is not possible.
void read_media(const MediaOption& media, const KernelSource& source, const std::string& function, CallOptions& call,
                const Observer& observer);

}  // namespace ferry::cli
