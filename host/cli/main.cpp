// The ferry with a compiler, which can also be the tracker of a farm. In packages its code is libferry.so, which
// programs and Python use too.
#include "host/cli/program/program.h"

int main(int count, char** words) { return ferry::cli::run_program(count, words); }
