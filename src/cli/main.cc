#include "cli/output.h"
#include "cli/run.h"
#include "cli/try_command.h"
#include "input/archive/worker.h"

int main(int argc, char** argv) {
  whyoom::ServeArchivesIfAsked(argc, argv);
  whyoom::BecomeCompileIfAsked(argc, argv);
  whyoom::ReserveStandardStreams();
  return whyoom::RunCommandLine({argv + (argc > 0 ? 1 : 0), argv + argc});
}
