// The tests' own executable is what is started where they read archives.
#include "input/archive/archive_server.h"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  if (whyoom::IsArchiveServer(argc, argv)) whyoom::ServeArchives(argv[1]);
  return Catch::Session().run(argc, argv);
}
