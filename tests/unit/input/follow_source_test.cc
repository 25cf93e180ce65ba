// Follows a file that is still being written.
#include "input/follow_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "catch.h"
#include "packed.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

using State = FollowSource::State;

std::string Next(FollowSource* source) {
  char buffer[64];
  return std::string(buffer, source->Read(buffer, sizeof buffer));
}

void Append(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

constexpr std::chrono::milliseconds kAtOnce(0);

TEST_CASE("data written later is read later", "[input]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("a", "one\n");
  ReadControl control;
  FollowSource source(path, control, kAtOnce);
  CHECK(Next(&source) == "one\n");
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kQuiet);
  Append(path, "two\n");
  CHECK(Next(&source) == "two\n");
  CHECK(source.state() == State::kOpen);
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kQuiet);
  control.stop = true;
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kEnded);
  CHECK(source.problem().empty());
}

TEST_CASE("a truncated or replaced file counts as replaced after it was read", "[input]") {
  const ScratchFolder scratch;
  ReadControl control;
  const std::string cut = scratch.Write("cut", "one\ntwo\n");
  FollowSource of_cut(cut, control, kAtOnce);
  CHECK(Next(&of_cut) == "one\ntwo\n");
  std::filesystem::resize_file(cut, 4);
  CHECK(Next(&of_cut).empty());
  CHECK(of_cut.state() == State::kReplaced);
  CHECK(Next(&of_cut).empty());

  const std::string moved = scratch.Write("moved", "one\n");
  FollowSource of_moved(moved, control, kAtOnce);
  CHECK(Next(&of_moved) == "one\n");
  std::filesystem::rename(moved, moved + ".1");
  Append(moved + ".1", "last\n");
  CHECK(Next(&of_moved) == "last\n");
  CHECK(Next(&of_moved).empty());
  CHECK(of_moved.state() == State::kQuiet);  // there is no new file yet
  scratch.Write("moved", "new\n");
  CHECK(Next(&of_moved).empty());
  CHECK(of_moved.state() == State::kReplaced);
}

TEST_CASE("a file that cannot be followed is reported", "[input]") {
  const ScratchFolder scratch;
  ReadControl control;
  FollowSource packed(scratch.Write("a.gz", Compress("gzip", "text")), control, kAtOnce);
  CHECK(Next(&packed).empty());
  CHECK(packed.state() == State::kEnded);
  CHECK(packed.problem() == "packed (gzip) files cannot be followed; leave out --follow");
  FollowSource unread(scratch.Write("a.7z", Archive("7zip", {{"a.log", "text"}})), control, kAtOnce);
  CHECK(Next(&unread).empty());
  CHECK(unread.problem() == "packed (7z) files cannot be followed; leave out --follow");
  FollowSource below_file(scratch.Write("file", "") + "/x", control, kAtOnce);
  CHECK(Next(&below_file).empty());
  CHECK(below_file.state() == State::kEnded);
  CHECK(std::string(below_file.problem()).starts_with("cannot open: "));
  control.stop = true;
  FollowSource missing(scratch.path() + "/later", control, kAtOnce);
  CHECK(Next(&missing).empty());
  CHECK(missing.state() == State::kEnded);
  CHECK(missing.problem() == "the file never appeared");
}

TEST_CASE("reading a pipe without a writer returns after the quiet time", "[input]") {
  const ScratchFolder scratch;
  const std::string pipe = scratch.path() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  ReadControl control;
  FollowSource source(pipe, control, kAtOnce);
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kQuiet);
  const int writer = open(pipe.c_str(), O_WRONLY);
  REQUIRE(write(writer, "one\n", 4) == 4);
  CHECK(Next(&source) == "one\n");
  close(writer);
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kEnded);
  CHECK(source.problem().empty());
}

TEST_CASE("following ends when its time is up", "[input]") {
  const ScratchFolder scratch;
  ReadControl control;
  Limits limits;
  limits.seconds = 1e-9;
  const Quota time(limits);
  FollowSource source(scratch.Write("a", "one\n"), control, kAtOnce, &time);
  CHECK(Next(&source).empty());
  CHECK(source.state() == State::kEnded);
  CHECK(source.problem() == TooLongText(limits));
}

TEST_CASE("a file that never appeared is reported", "[input]") {
  const ScratchFolder scratch;
  ReadControl control;
  FollowSource source(scratch.path() + "/none", control, kAtOnce);
  control.stop = true;
  CHECK(Next(&source).empty());
  CHECK(source.problem() == "the file never appeared");
}

}  // namespace TEST_FILE
