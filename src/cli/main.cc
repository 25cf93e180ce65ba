#include "cli/run.h"
#include "cli/serve_archives.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  whyoom::ServeArchivesIfAsked(argc, argv);
  whyoom::HoldStandardStreams();
  return whyoom::Run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
