// Inputs that may block, and what ends them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "catch.h"
#include "input/byte_source.h"
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

TEST_CASE("a file that cannot be read yields no bytes and a problem", "[input]") {
  const ScratchFolder scratch;
  for (const std::string& path : {scratch.path() + "/none", scratch.path()}) {
    const std::unique_ptr<ByteSource> source = OpenFile(path);
    CHECK(ReadAll(*source).empty());
    CHECK_FALSE(source->problem().empty());
  }
}

TEST_CASE("a device ends if it has an end", "[input]") {
  const std::unique_ptr<ByteSource> source = OpenFile("/dev/null");
  CHECK(ReadAll(*source).empty());
  CHECK(source->problem().empty());
}

TEST_CASE("a named pipe waits for its first writer", "[input]") {
  const NamedPipe pipe;
  const Stop never;
  for (const Stop* stop : {static_cast<const Stop*>(nullptr), &never}) {
    const std::unique_ptr<ByteSource> source = OpenFile(pipe.path, stop);
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
}

TEST_CASE("a stop ends a blocked read without a problem", "[input]") {
  const NamedPipe pipe;
  ReadControl control;
  const Stop stop(&control, {});
  const std::unique_ptr<ByteSource> source = OpenFile(pipe.path, &stop);
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
  Limits limits;
  limits.seconds = 0.05;
  const Stop stop(nullptr, limits);
  const std::unique_ptr<ByteSource> source = OpenFile(pipe.path, &stop);
  const int descriptor = pipe.OpenToWrite();
  CHECK(ReadAll(*source).empty());
  CHECK(source->problem() == "stopped after 0.05 s (--max-time); the rest was not read");
  close(descriptor);
}

}  // namespace TEST_FILE
