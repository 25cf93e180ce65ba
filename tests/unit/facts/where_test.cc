// Locations in artifacts, their order, and bounded names.
#include "facts/where.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

TEST_CASE("locations are ordered by path, member, offset and lines", "[facts]") {
  const std::vector<Where> ordered = {{{"a", ""}, 9, 9, 9}, {{"a", "m"}, 1, 1, 1}, {{"a", "n"}, 1, 1, 0},
                                      {{"b", ""}, 5, 5, 0}, {{"b", ""}, 1, 1, 2},  {{"b", ""}, 3, 3, 2},
                                      {{"b", ""}, 3, 4, 2}, {{"b", "a"}, 0, 0, 0}};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      INFO(i << " and " << j);
      CHECK(CompareWhere(ordered[i], ordered[j]) == (i < j ? -1 : i > j ? 1 : 0));
      CHECK(IsEarlier()(ordered[i], ordered[j]) == (i < j));
    }
  }
}

TEST_CASE("a long name is cut and made distinct by a digest", "[facts]") {
  const std::string name(64, 'x');
  CHECK(BoundedName(name, 64) == name);
  CHECK(BoundedName(name + "y", 64) == std::string(47, 'x') + "~96a61e9b7c14acff");
  CHECK(BoundedName(name + "y", 64) != BoundedName(name + "z", 64));
  CHECK(BoundedName(name + "y", 65) == name + "y");
  // Not cut within a character: "é" has bytes 46 and 47.
  const std::string bounded = BoundedName(std::string(46, 'x') + "\u00e9" + name, 64);
  CHECK(bounded.substr(0, 47) == std::string(46, 'x') + "~");
  CHECK(bounded.size() == 63);
  CHECK(BoundedPath(std::string(4096, 'x')).size() == 4096);
  CHECK(BoundedPath(std::string(4097, 'x')).size() == 4096);
  CHECK(BoundedPath(std::string(4097, 'x')) != std::string(4096, 'x'));
}
