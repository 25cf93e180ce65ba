#include "cli/run.h"
#include "input/archive/archive_server.h"

int main(int argc, char** argv) {
  if (whyoom::IsArchiveServer(argc, argv)) whyoom::ServeArchives(argv[1]);
  return whyoom::Run({argv + (argc > 0 ? 1 : 0), argv + argc});
}
