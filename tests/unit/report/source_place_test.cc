// The line of the user's sources that a failure comes from.
#include "report/source_place.h"

#include <optional>
#include <string>

#include "catch.h"
#include "made_report.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

// "path:line", or "nowhere".
std::string Source(const Diagnosis& finding) {
  const std::optional<SourcePlace> place = UserSource(finding);
  return place ? place->path + ":" + std::to_string(place->line) : "nowhere";
}

void SetCall(const std::string& path, const std::string& call, Diagnosis* finding) {
  finding->facts.Set("user_source_path", path, {3, 0});
  finding->facts.Set("user_source", call, {3, 0});
}

TEST_CASE("the source is the line that makes the largest allocation", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  CHECK(Source(finding) == "nowhere");
  SetSource("/home/ada/small.py", 3, &finding);
  SetSource("/home/ada/train.py", 41, &finding);
  finding.allocations[1].size_bytes = 4294967296;
  CHECK(Source(finding) == "/home/ada/train.py:41");
  SetCall("/home/ada/main.py", "main.py:7", &finding);
  CHECK(Source(finding) == "/home/ada/train.py:41");
}

TEST_CASE("without such a line, or with one in a library, the source is the innermost call", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis none = MadeFinding(failure);
  SetSource("", 0, &none);
  CHECK(Source(none) == "nowhere");
  SetCall("/home/ada/main.py", "main.py:7", &none);
  CHECK(Source(none) == "/home/ada/main.py:7");

  Diagnosis library = MadeFinding(failure);
  SetSource("/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py", 251, &library);
  CHECK(Source(library) == "nowhere");
  SetCall("/home/ada/main.py", "main.py:7", &library);
  CHECK(Source(library) == "/home/ada/main.py:7");

  Diagnosis without_list = MadeFinding(failure);
  SetCall("/home/ada/main.py", "main.py:7", &without_list);
  CHECK(Source(without_list) == "/home/ada/main.py:7");
}

TEST_CASE("an invalid line number yields no location", "[report]") {
  const Failure failure = MadeFailure();
  for (const char* call : {"main.py:0", "main.py:-3", "main.py:", "main.py", "main.py:x", ""}) {
    INFO(call);
    Diagnosis finding = MadeFinding(failure);
    SetCall("/home/ada/main.py", call, &finding);
    CHECK(Source(finding) == "nowhere");
  }
  Diagnosis no_line = MadeFinding(failure);
  SetSource("/home/ada/train.py", 0, &no_line);
  CHECK(Source(no_line) == "nowhere");
}

TEST_CASE("a source path is printable", "[report]") {
  const Failure failure = MadeFailure();
  const std::optional<SourcePlace> place = UserSource(HostileFinding(failure));
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
