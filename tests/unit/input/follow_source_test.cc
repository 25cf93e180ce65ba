// Follows a file that is still being written.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "catch.h"
#include "input/byte_source.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Next(ByteSource& source) {
  char buffer[64];
  return std::string(buffer, source.Read(buffer, sizeof buffer));
}

constexpr std::chrono::milliseconds kAtOnce(0);

TEST_CASE("data written later is read later", "[input]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("a", "one\n");
  ReadControl control;
  const Stop stop(&control, {});
  const std::unique_ptr<ByteSource> source = FollowFile(path, stop, kAtOnce);
  CHECK(Next(*source) == "one\n");
  CHECK(Next(*source).empty());
  CHECK(source->may_grow());
  std::ofstream(path, std::ios::app) << "two\n";
  CHECK(Next(*source) == "two\n");
  CHECK(Next(*source).empty());
  CHECK(source->may_grow());
  control.stop = true;
  CHECK(Next(*source).empty());
  CHECK_FALSE(source->may_grow());
  CHECK(source->problem().empty());
}

TEST_CASE("a file that cannot be followed is reported", "[input]") {
  const ScratchFolder scratch;
  ReadControl control;
  const Stop stop(&control, {});
  const std::unique_ptr<ByteSource> below_file = FollowFile(scratch.Write("file", "") + "/x", stop, kAtOnce);
  CHECK(Next(*below_file).empty());
  CHECK_FALSE(below_file->may_grow());
  CHECK(std::string(below_file->problem()).starts_with("cannot open: "));
  const std::unique_ptr<ByteSource> missing = FollowFile(scratch.path() + "/later", stop, kAtOnce);
  CHECK(Next(*missing).empty());
  CHECK(missing->may_grow());  // it may still appear
  control.stop = true;
  CHECK(Next(*missing).empty());
  CHECK_FALSE(missing->may_grow());
  CHECK(missing->problem() == "the file never appeared");
}

TEST_CASE("reading a pipe without a writer returns after the quiet time", "[input]") {
  const ScratchFolder scratch;
  const std::string pipe = scratch.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const Stop never;
  const std::unique_ptr<ByteSource> source = FollowFile(pipe, never, kAtOnce);
  CHECK(Next(*source).empty());
  CHECK(source->may_grow());
  const int writer = open(pipe.c_str(), O_WRONLY);
  REQUIRE(write(writer, "one\n", 4) == 4);
  CHECK(Next(*source) == "one\n");
  close(writer);
  CHECK(Next(*source).empty());
  CHECK_FALSE(source->may_grow());
  CHECK(source->problem().empty());
}

TEST_CASE("following ends when its time is up", "[input]") {
  const ScratchFolder scratch;
  Limits limits;
  limits.seconds = 0.05;
  const Stop stop(nullptr, limits);
  const std::unique_ptr<ByteSource> source = FollowFile(scratch.Write("a", "one\n"), stop);
  CHECK(Next(*source) == "one\n");
  CHECK(Next(*source).empty());
  CHECK_FALSE(source->may_grow());
  CHECK(source->problem() == "stopped after 0.05 s (--max-time); the rest was not read");
}

}  // namespace TEST_FILE
