// The stamp of a file, by which --resume recognizes a changed input.
#include <chrono>
#include <filesystem>
#include <string>

#include "catch.h"
#include "cli/resume_journal.h"
#include "process.h"

using namespace whyoom;
namespace fs = std::filesystem;

namespace TEST_FILE {

TEST_CASE("only regular files have a stamp", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("a", "12345");
  const FileStamp stamp = StampOf(path);
  CHECK(stamp.regular);
  CHECK(stamp.size == 5);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::nanoseconds(1));
  CHECK(StampOf(path).modified == stamp.modified + 1);
  for (const std::string& other :
       {std::string("-"), scratch.path(), scratch.path() + "/missing", std::string("/dev/null")}) {
    INFO(other);
    CHECK_FALSE(StampOf(other).regular);
  }
}

}  // namespace TEST_FILE
