// The ferry of packages, whose compiler is the libferry.so that programs and Python use too.
#include "host/cli/program/program.h"

int main(int count, char** words) { return ferry::cli::run_packaged_program(count, words); }
