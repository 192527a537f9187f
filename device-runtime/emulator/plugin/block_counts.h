// Counts how often a program enters each of its translated blocks.
#pragma once

#include "device-runtime/emulator/plugin/qemu_plugin.h"

namespace ferry::emulator {

struct CountedBlock;

// Returns what stands for a block from now on, or null without memory. Several may stand for the same instructions:
// qemu forgets translations, and then translates the block again.
CountedBlock* add_block(const qemu_plugin_tb* block);

// Says that a thread enters the block.
void enter(CountedBlock& block);

// Writes the blocks that were entered since the last call to a file, and counts from 0 again: a line for each with how
// often, the address in hexadecimal digits, and the bytes of each instruction, as they stand in memory. Returns whether
// that succeeded.
bool write_blocks(const char* file);

}  // namespace ferry::emulator
