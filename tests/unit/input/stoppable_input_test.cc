// Inputs that may block, and what ends them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "catch.h"
#include "input/stop.h"
#include "process.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

// A named pipe in its own folder.
struct NamedPipe {
  NamedPipe() : path(scratch.path() + "/pipe") { REQUIRE(mkfifo(path.c_str(), 0600) == 0); }
  int OpenToWrite() const { return open(path.c_str(), O_WRONLY | O_CLOEXEC); }

  ScratchFolder scratch;
  std::string path;
};

void Write(int descriptor, const std::string& text) {
  CHECK(write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

TEST_CASE("a regular file does not block and is read to its end", "[input]") {
  const ScratchFolder scratch;
  const ReadControl control;
  bool may_wait = true;
  const std::string path = scratch.Write("a.log", "one\ntwo\n");
  const std::unique_ptr<ByteSource> source = OpenStoppable(path, control, {}, &may_wait);
  CHECK_FALSE(may_wait);
  CHECK(ReadAll(*source) == "one\ntwo\n");
  CHECK(source->problem().empty());
}

TEST_CASE("a missing file yields no bytes and a problem", "[input]") {
  const ScratchFolder scratch;
  const ReadControl control;
  bool may_wait = true;
  const std::unique_ptr<ByteSource> none = OpenStoppable(scratch.path() + "/none", control, {}, &may_wait);
  CHECK_FALSE(may_wait);
  CHECK(ReadAll(*none).empty());
  CHECK_FALSE(none->problem().empty());
  const std::unique_ptr<ByteSource> folder = OpenStoppable(scratch.path(), control, {}, &may_wait);
  CHECK_FALSE(may_wait);
  CHECK(ReadAll(*folder).empty());
  CHECK_FALSE(folder->problem().empty());
}

TEST_CASE("a device may block, and ends if it has an end", "[input]") {
  const ReadControl control;
  bool may_wait = false;
  const std::unique_ptr<ByteSource> source = OpenStoppable("/dev/null", control, {}, &may_wait);
  CHECK(may_wait);
  CHECK(ReadAll(*source).empty());
  CHECK(source->problem().empty());
}

TEST_CASE("a named pipe waits for its first writer", "[input]") {
  const NamedPipe pipe;
  const ReadControl control;
  bool may_wait = false;
  const std::unique_ptr<ByteSource> source = OpenStoppable(pipe.path, control, {}, &may_wait);
  CHECK(may_wait);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const int descriptor = pipe.OpenToWrite();
    Write(descriptor, "one\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    Write(descriptor, "two\n");
    close(descriptor);
  });
  CHECK(ReadAll(*source) == "one\ntwo\n");
  writer.join();
  CHECK(source->problem().empty());
}

TEST_CASE("a stop ends a blocked read without a problem", "[input]") {
  const NamedPipe pipe;
  ReadControl control;
  bool may_wait = false;
  const std::unique_ptr<ByteSource> source = OpenStoppable(pipe.path, control, {}, &may_wait);
  const int descriptor = pipe.OpenToWrite();
  Write(descriptor, "one\n");
  char buffer[64];
  REQUIRE(source->Read(buffer, sizeof buffer) == 4);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    control.stop = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK(source->Read(buffer, sizeof buffer) == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  stopper.join();
  CHECK(source->problem().empty());
  Write(descriptor, "two\n");
  CHECK(source->Read(buffer, sizeof buffer) == 0);  // permanently
  close(descriptor);
}

TEST_CASE("a time limit ends a blocked read with a problem", "[input]") {
  const NamedPipe pipe;
  const ReadControl control;
  Limits limits;
  limits.seconds = 0.05;
  bool may_wait = false;
  const std::unique_ptr<ByteSource> source = OpenStoppable(pipe.path, control, limits, &may_wait);
  const int descriptor = pipe.OpenToWrite();
  CHECK(ReadAll(*source).empty());
  CHECK_FALSE(source->problem().empty());
  close(descriptor);
}

TEST_CASE("a regular file has no time limit", "[input]") {
  const ScratchFolder scratch;
  const ReadControl control;
  Limits limits;
  limits.seconds = 1e-9;
  bool may_wait = true;
  const std::unique_ptr<ByteSource> source = OpenStoppable(scratch.Write("a", "text\n"), control, limits, &may_wait);
  CHECK(ReadAll(*source) == "text\n");
  CHECK(source->problem().empty());
}

TEST_CASE("standard input may block, whatever it is", "[input]") {
  const ReadControl control;
  bool may_wait = false;
  CHECK(OpenStoppable("-", control, {}, &may_wait) != nullptr);
  CHECK(may_wait);
}

}  // namespace TEST_FILE
