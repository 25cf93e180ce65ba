#include "cli/serve_archives.h"

#include <csignal>
#include <initializer_list>

#include "input/archive/archive_server.h"

namespace whyoom {

void ServeArchivesIfAsked(int argc, char** argv) {
  if (!IsArchiveServer(argc, argv)) return;
  // These are sent to all of a terminal's processes; the run ends this one when it is done.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(number, SIG_IGN);
  ServeArchives(argv[1]);
}

}  // namespace whyoom
