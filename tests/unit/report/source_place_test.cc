// The line of the user's sources that a failure comes from.
#include <optional>
#include <string>

#include "catch.h"
#include "made_report.h"
#include "report/failure_view.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

// "path:line", or "nowhere".
std::string Source(const Failure& failure) {
  const std::optional<SourcePlace> place = UserSource(failure);
  return place ? place->path + ":" + std::to_string(place->line) : "nowhere";
}

void SetCall(const std::string& path, const std::string& call, Failure* failure) {
  failure->facts.Set("user_source_path", path, {3, 0});
  failure->facts.Set("user_source", call, {3, 0});
}

TEST_CASE("the source is the line that makes the largest allocation", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  CHECK(Source(failure) == "nowhere");
  SetSource("/home/ada/small.py", 3, &failure);
  SetSource("/home/ada/train.py", 41, &failure);
  failure.allocations[1].size_bytes = 4294967296;
  CHECK(Source(failure) == "/home/ada/train.py:41");
  SetCall("/home/ada/main.py", "main.py:7", &failure);
  CHECK(Source(failure) == "/home/ada/train.py:41");
}

TEST_CASE("without such a line, or with one in a library, the source is the innermost call", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure none = MadeFailure(rule);
  SetSource("", 0, &none);
  CHECK(Source(none) == "nowhere");
  SetCall("/home/ada/main.py", "main.py:7", &none);
  CHECK(Source(none) == "/home/ada/main.py:7");

  Failure library = MadeFailure(rule);
  SetSource("/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py", 251, &library);
  CHECK(Source(library) == "nowhere");
  SetCall("/home/ada/main.py", "main.py:7", &library);
  CHECK(Source(library) == "/home/ada/main.py:7");

  Failure without_list = MadeFailure(rule);
  SetCall("/home/ada/main.py", "main.py:7", &without_list);
  CHECK(Source(without_list) == "/home/ada/main.py:7");
}

TEST_CASE("an invalid line number yields no location", "[report]") {
  const FailureRule rule = MadeFailure();
  for (const char* call : {"main.py:0", "main.py:-3", "main.py:", "main.py", "main.py:x", ""}) {
    INFO(call);
    Failure failure = MadeFailure(rule);
    SetCall("/home/ada/main.py", call, &failure);
    CHECK(Source(failure) == "nowhere");
  }
  Failure no_line = MadeFailure(rule);
  SetSource("/home/ada/train.py", 0, &no_line);
  CHECK(Source(no_line) == "nowhere");
}

TEST_CASE("a source path is printable", "[report]") {
  const FailureRule rule = MadeFailure();
  const std::optional<SourcePlace> place = UserSource(HostileFailure(rule));
  REQUIRE(place);
  CHECK(Printable(place->path) == place->path);
}

TEST_CASE("paths below the folder become relative to it", "[report]") {
  CHECK(RelativeTo("/home/ada", "/home/ada/train.py") == "train.py");
  CHECK(RelativeTo("/home/ada/", "/home/ada/src/train.py") == "src/train.py");
  CHECK(RelativeTo("/home/ada", "/home/ada/src/../train.py") == "train.py");
  CHECK(RelativeTo("/home/ada", "/home//ada/./train.py") == "train.py");
  CHECK(RelativeTo("/home/./ada", "/home/ada/train.py") == "train.py");
  CHECK(RelativeTo("/", "/train.py") == "train.py");
  CHECK(RelativeTo("/home/ada", "/home/ada/..train.py") == "..train.py");  // a name, not a parent folder
}

TEST_CASE("a relative path is kept, without redundant parts", "[report]") {
  CHECK(RelativeTo("/home/ada", "train.py") == "train.py");
  CHECK(RelativeTo("/home/ada", "./src/train.py") == "src/train.py");
  CHECK(RelativeTo("/home/ada", "src/../train.py") == "train.py");
  CHECK(RelativeTo("", "./train.py") == "train.py");
}

TEST_CASE("a path outside of the folder, or a name that is no file, has no relative path", "[report]") {
  for (const char* path :
       {"/home/bob/train.py", "/home/ada2/train.py", "/home/ada/../bob/train.py", "/home/ada", "/home/ada/",
        "../train.py", "src/../../train.py", "", ".", "Cell In[3]", "<stdin>", "<ipython-input-3-ab>"}) {
    INFO(path);
    CHECK_FALSE(RelativeTo("/home/ada", path));
  }
  CHECK_FALSE(RelativeTo("", "/home/ada/train.py"));
}

}  // namespace TEST_FILE
