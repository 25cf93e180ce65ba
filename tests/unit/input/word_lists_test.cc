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
    std::string found;
    for (const std::size_t list : lists.ListsIn(text)) found += std::to_string(list);
    return found;
  };
  CHECK(in("") == "1");
  CHECK(in("EGREP x") == "01");
  CHECK(in("based on") == "012");
  CHECK(in("Out of it") == "12");
  CHECK(in("awk") == "13");
}

TEST_CASE("without lists nothing is found", "[input]") {
  WordLists lists;
  lists.Prepare();
  CHECK(lists.ListsIn("any").empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
