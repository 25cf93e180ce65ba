// What the search engine makes of what is looked for, kept and loaded again.
#include "input/search_database.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "input/error.h"

namespace whyoom {
namespace {

using Places = std::vector<std::pair<unsigned, std::size_t>>;  // of what was found, and its end

Places FoundIn(const SearchDatabase& database, std::string_view text) {
  Places found;
  database.Search(
      text,
      [](unsigned place, unsigned long long, unsigned long long to, unsigned, void* context) {
        static_cast<Places*>(context)->emplace_back(place, static_cast<std::size_t>(to));
        return 0;
      },
      &found);
  return found;
}

}  // namespace

TEST_CASE("literals are found in any case, each match with its end", "[input]") {
  const SearchDatabase database = SearchDatabase::OfLiterals({"memory", "out of"});
  CHECK(FoundIn(database, "Out Of MEMORY, memory") == Places{{1, 6}, {0, 13}, {0, 21}});
  CHECK(FoundIn(database, "nothing").empty());
  CHECK(FoundIn(database, "").empty());
}

TEST_CASE("a database of nothing finds nothing", "[input]") {
  CHECK(SearchDatabase().empty());
  CHECK(SearchDatabase::OfLiterals({}).empty());
  CHECK(FoundIn(SearchDatabase(), "anything").empty());
}

TEST_CASE("what is told ends the search where it says so", "[input]") {
  const SearchDatabase database = SearchDatabase::OfLiterals({"a"});
  int calls = 0;
  CHECK(database.Search(
      "aaa",
      [](unsigned, unsigned long long, unsigned long long, unsigned, void* context) {
        return ++*static_cast<int*>(context);
      },
      &calls));
  CHECK(calls == 1);
}

TEST_CASE("what was saved finds the same when it is loaded", "[input]") {
  const SearchDatabase made = SearchDatabase::OfLiterals({"hbm", "vmem"}, SearchDatabase::Machine::kAny);
  const std::optional<SearchDatabase> loaded = SearchDatabase::Load(made.Save());
  REQUIRE(loaded);
  CHECK(FoundIn(*loaded, "HBM and vmem") == FoundIn(made, "HBM and vmem"));
}

TEST_CASE("what no engine saved is not loaded", "[input]") {
  CHECK_FALSE(SearchDatabase::Load(""));
  CHECK_FALSE(SearchDatabase::Load("no database"));
  std::string saved = SearchDatabase::OfLiterals({"hbm"}).Save();
  CHECK_FALSE(SearchDatabase::Load(saved.substr(0, saved.size() / 2)));
}

}  // namespace whyoom
