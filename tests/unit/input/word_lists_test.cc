// Finds which lists of words have a word in a text.
#include "input/word_lists.h"

#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("a list matches if it is empty or one of its words occurs, in any case", "[input]") {
  WordLists lists;
  lists.Add({"grep", "sed"});
  lists.Add({});
  lists.Add({"sed", "out of"});
  lists.Add({"awk"});
  lists.Prepare();
  const auto in = [&](std::string_view text) {
    const std::vector<bool> words = lists.WordsIn(text);
    std::string found;
    for (std::size_t list = 0; list < 4; ++list) found += lists.HasOne(list, words) ? '1' : '0';
    return found;
  };
  CHECK(in("") == "0100");
  CHECK(in("EGREP x") == "1100");
  CHECK(in("based on") == "1110");
  CHECK(in("Out of it") == "0110");
  CHECK(in("awk") == "0101");
}

TEST_CASE("without lists nothing is found", "[input]") {
  WordLists lists;
  lists.Prepare();
  CHECK(lists.WordsIn("any").empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
