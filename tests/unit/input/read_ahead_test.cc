#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "input/decompress.h"

namespace whyoom {
namespace TEST_FILE {

// Returns `size` bytes that depend on their offset, then fails in one of two ways.
class CountingSource : public ByteSource {
 public:
  CountingSource(std::size_t size, bool throws) : size_(size), throws_(throws) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = std::min({capacity, size_ - at_, std::size_t{1} + at_ % 300'000});
    for (std::size_t i = 0; i < count; ++i) buffer[i] = static_cast<char>((at_ + i) * 2654435761U >> 24);
    at_ += count;
    if (count == 0 && throws_) throw std::runtime_error("no memory");
    return count;
  }
  std::string_view problem() const override { return at_ == size_ ? "it broke" : ""; }

 private:
  const std::size_t size_;
  const bool throws_;
  std::size_t at_ = 0;
};

std::string ReadAll(ByteSource* source, std::size_t capacity) {
  std::string all;
  std::vector<char> buffer(capacity);
  while (const std::size_t got = source->Read(buffer.data(), capacity)) all.append(buffer.data(), got);
  CHECK(source->Read(buffer.data(), capacity) == 0);
  return all;
}

TEST_CASE("reading ahead does not change the bytes", "[input]") {
  constexpr std::size_t kSize = 5'000'000;
  CountingSource plain(kSize, false);
  const std::string expected = ReadAll(&plain, 1000);
  REQUIRE(expected.size() == kSize);
  for (const std::size_t after : {std::size_t{0}, std::size_t{1'000'000}, kSize, kSize + 1}) {
    for (const std::size_t capacity : {1000U, 262'144U, 1'000'000U}) {
      const auto source = ReadAhead(std::make_unique<CountingSource>(kSize, false), after);
      CHECK((ReadAll(source.get(), capacity) == expected));
      CHECK(source->problem() == "it broke");
    }
  }
}

TEST_CASE("a source that reads ahead may be destroyed at any time", "[input]") {
  for (const std::size_t wanted : {0U, 1U, 100'000U, 2'000'000U}) {
    const auto source = ReadAhead(std::make_unique<CountingSource>(50'000'000, false), 0);
    std::vector<char> buffer(1000);
    for (std::size_t read = 0; read < wanted;) read += source->Read(buffer.data(), buffer.size());
    CHECK(source->problem().empty());
  }
}

TEST_CASE("an exception on the thread reaches the reader", "[input]") {
  for (const std::size_t after : {0U, 100U}) {
    const auto source = ReadAhead(std::make_unique<CountingSource>(1'000'000, true), after);
    CHECK_THROWS_AS(ReadAll(source.get(), 1000), std::runtime_error);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
