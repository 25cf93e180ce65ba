#include "input/packing.h"

#include <string>

#include "catch.h"

using namespace whyoom;

TEST_CASE("packed input is known by its first bytes", "[input]") {
  CHECK(PackingOf(std::string("\x1f\x8b\x08\x00rest", 8)) == "gzip");
  CHECK(PackingOf("\x28\xb5\x2f\xfdrest") == "zstd");
  CHECK(PackingOf(std::string("\xfd"
                              "7zXZ\0rest",
                              10)) == "xz");
  CHECK(PackingOf("PK\x03\x04") == "zip");
  CHECK(PackingOf("") == "");
  CHECK(PackingOf("PK is a word, BZ too") == "");
}

TEST_CASE("peeking changes nothing", "[input]") {
  for (const std::size_t size : {0U, 3U, 511U, 512U, 513U, 5000U}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
    for (const std::size_t chunk : {1U, 7U, 1000U}) {
      std::string beginning;
      const auto source = Peek(OpenMemory(text, chunk), &beginning);
      CHECK(beginning == text.substr(0, 512));
      std::string read;
      char buffer[100];
      for (std::size_t count = 0; (count = source->Read(buffer, sizeof buffer)) > 0;) read.append(buffer, count);
      CHECK(read == text);
    }
  }
}
