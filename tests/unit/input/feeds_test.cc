// Counts line feeds at any position.
#include <algorithm>
#include <string>

#include "catch.h"
#include "input/prefilter.h"

using namespace whyoom;

TEST_CASE("line feeds are counted in texts of any length", "[input]") {
  CHECK(CountFeeds("") == 0);
  CHECK(CountFeeds("\n") == 1);
  for (const std::size_t size : {63, 64, 65, 127, 128, 64 * 255, 64 * 255 + 1, 64 * 256, 64 * 300 + 7}) {
    INFO(size);
    CHECK(CountFeeds(std::string(size, '\n')) == size);
    CHECK(CountFeeds(std::string(size, 'x')) == 0);
    std::string some(size, '\v');
    for (std::size_t at = 0; at < size; at += 7) some[at] = '\n';
    CHECK(CountFeeds(some) == static_cast<std::size_t>(std::count(some.begin(), some.end(), '\n')));
  }
}
