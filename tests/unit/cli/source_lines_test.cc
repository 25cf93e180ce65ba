#include <filesystem>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/run_context.h"
#include "process.h"
#include "report/failure_view.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

// The lines that a report shows of the sources in `root`, each as "file:line text".
std::vector<std::string> Shown(const std::string& root, const std::string& why, const std::string& source = "") {
  const FailureRule rule = MadeFailure();
  Report report;
  report.failures.push_back(MadeFailure(rule));
  report.failures[0].why = {{why}};
  if (!source.empty()) SetSource(source, 2, &report.failures[0]);
  AddSourceLines(root, &report);
  std::vector<std::string> lines;
  for (const CodeLine& line : report.failures[0].code)
    lines.push_back(line.file + ":" + std::to_string(line.line) + " " + line.text);
  return lines;
}

TEST_CASE("the line of code is found below the root, whatever folder the log names", "[cli]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/model");
  scratch.Write("model/net.py", "import jax\n    y = f(x)\n");
  const std::vector<std::string> line = {"net.py:2 y = f(x)"};
  CHECK(Shown(scratch.path(), "One array is made at model/net.py:2.") == line);
  CHECK(Shown(scratch.path(), "One array is made at /home/me/model/net.py:2.") == line);
  CHECK(Shown(scratch.path(), "One array is made at net.py:2.", "/home/me/model/net.py") ==
        line);  // the row knows more
  CHECK(Shown(scratch.path(), "Nothing is named.", "/home/me/model/net.py") == line);
  CHECK(Shown(scratch.path(), "net.py:2").empty());        // not in the root itself
  CHECK(Shown(scratch.path(), "model/net.py:3").empty());  // no such line
  CHECK(Shown("", "model/net.py:2").empty());              // no root
  CHECK(Shown(scratch.path() + "/no", "net.py:2").empty());
}

TEST_CASE("no other file stands in for one that is there but empty", "[cli]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/model");
  scratch.Write("model/net.py", "");
  scratch.Write("net.py", "import unrelated\n");
  CHECK(Shown(scratch.path(), "model/net.py:1").empty());
}

TEST_CASE("an annotation points at the line that the report shows", "[cli]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/model");
  scratch.Write("model/net.py", "y = f(x)\n");
  const FailureRule rule = MadeFailure();
  Report report;
  report.failures.push_back(MadeFailure(rule));
  report.failures[0].why = {{"One array is made at /job/model/net.py:1."}};
  SetSource("/job/train.py", 9, &report.failures[0]);
  AddSourceLines(scratch.path(), &report);
  const std::optional<SourcePlace> place = UserSource(report.failures[0]);
  REQUIRE(place);
  CHECK(place->path == "model/net.py");
  CHECK(place->line == 1);
}

TEST_CASE("a hostile log shows no file outside the root, and no other kind of file", "[cli]") {
  const ScratchFolder outside;
  const ScratchFolder scratch;
  outside.Write("key.py", "KEY\n");
  scratch.Write("password.env", "SECRET\n");
  scratch.Write("a.py", "token=ghp_abcdefghijklmnopqrstuvwxyz0123456789\x1b[2J\n");
  fs::create_symlink(outside.path() + "/key.py", scratch.path() + "/link.py");
  fs::create_symlink(outside.path(), scratch.path() + "/folder");
  fs::create_symlink(scratch.path() + "/a.py", scratch.path() + "/inside.py");
  CHECK(Shown(scratch.path(), outside.path() + "/key.py:1").empty());
  CHECK(Shown(scratch.path(), "../" + fs::path(outside.path()).filename().string() + "/key.py:1").empty());
  CHECK(Shown(scratch.path(), "link.py:1").empty());
  CHECK(Shown(scratch.path(), "folder/key.py:1").empty());
  CHECK(Shown(scratch.path(), "password.env:1").empty());
  const std::vector<std::string> masked = Shown(scratch.path(), "inside.py:1");  // a link that stays inside
  REQUIRE(masked.size() == 1);
  CHECK(masked[0].find("ghp_") == std::string::npos);
  CHECK(masked[0].find('\x1b') == std::string::npos);
}

}  // namespace TEST_FILE
