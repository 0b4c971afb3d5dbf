#include "cli/commands.h"

int main(int argc, char** argv) { return assay::cli::run(argc, argv); }
