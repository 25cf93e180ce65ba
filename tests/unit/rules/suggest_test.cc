// Suggestions for misspelt names.
#include "rules/suggest.h"

#include <string>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

const std::vector<std::string> kNames = {"used_bytes", "limit_bytes", "code", "node", "id"};

TEST_CASE("the most similar name is suggested if it is similar enough", "[rules]") {
  CHECK(Nearest("used_bites", kNames) == "used_bytes");
  CHECK(Nearest("usedbytes", kNames) == "used_bytes");
  CHECK(Nearest("USED_BYTES", kNames) == "used_bytes");
  CHECK(Nearest("limit", {"limits", "limited"}) == "limits");
  CHECK(Nearest("cdoe", kNames) == "code");  // swapping letters is one error
  CHECK(Nearest("ocde", kNames) == "code");
  CHECK(Nearest("mode", {"node", "code"}) == "node");
  CHECK(Nearest("coda", {"soda", "code"}) == "code");  // the first letter breaks ties
  CHECK(Nearest("ix", kNames) == "id");
  CHECK(Nearest("xyz", kNames).empty());
  CHECK(Nearest("", kNames).empty());
  CHECK(Nearest("code", {}).empty());
}

TEST_CASE("a third of the letters may differ, at least one", "[rules]") {
  CHECK(Nearest("abcdef", {"abcdxy"}) == "abcdxy");
  CHECK(Nearest("abcdef", {"abcxyz"}).empty());
  CHECK(Nearest("abc", {"abx"}) == "abx");
  CHECK(Nearest("abc", {"axy"}).empty());
  CHECK(Nearest("a", {"b"}) == "b");
  const std::string name(80, 'x');
  CHECK(Nearest(name, {name}) == name);
  CHECK(Nearest(name + "x", {name}).empty());
  CHECK(Nearest(name, {name + "x"}).empty());
}

TEST_CASE("suggestions and lists are phrased for hints", "[rules]") {
  CHECK(DidYouMean("cod", kNames) == "did you mean 'code'?");
  CHECK(DidYouMean("xyz", kNames).empty());
  CHECK(Listing({"a", "b", "c"}) == "a, b, c");
  CHECK(Listing({"a"}) == "a");
  CHECK(Listing({}).empty());
}

}  // namespace TEST_FILE
