// The client without a compiler: a ferry that runs, checks, times and compares modules that were compiled elsewhere.
#include "host/cli/commands/command_line.h"

int main(int count, char** words) { return ferry::cli::run_command_line(count, words, nullptr, nullptr); }
