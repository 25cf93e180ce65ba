// Locations in artifacts, their order, and bounded paths.
#include <string>
#include <vector>

#include "catch.h"
#include "facts/evidence.h"

using namespace whyoom;

TEST_CASE("locations are ordered by path, member, offset and lines", "[facts]") {
  const std::vector<Where> ordered = {{{"a", ""}, 9, 9, 9}, {{"a", "m"}, 1, 1, 1}, {{"a", "n"}, 1, 1, 0},
                                      {{"b", ""}, 5, 5, 0}, {{"b", ""}, 1, 1, 2},  {{"b", ""}, 3, 3, 2},
                                      {{"b", ""}, 3, 4, 2}, {{"b", "a"}, 0, 0, 0}};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      INFO(i << " and " << j);
      CHECK((ordered[i] <=> ordered[j]) == (i <=> j));
    }
  }
}

TEST_CASE("a long path is cut", "[facts]") {
  CHECK(BoundedPath(std::string(4096, 'x')) == std::string(4096, 'x'));
  CHECK(BoundedPath(std::string(4097, 'x')).size() == 4096);
}
