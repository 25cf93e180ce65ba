// The programs that a log states.
#include <string>
#include <vector>

#include "catch.h"
#include "made_lines.h"
#include "read/context_facts.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

std::optional<CompiledProgram> Read(const std::vector<std::string>& texts) {
  const std::deque<Line> lines = LinesOf(texts);
  const JoinedLines joined(lines, 12);
  const std::vector<ContextFinder::Found> found = TestEngine().matchers().contexts.Find(joined);
  REQUIRE(found.size() == 1);
  return ReadStatement(found[0], joined);
}

TEST_CASE("a statement is read with derived facts and its location", "[read]") {
  const std::optional<CompiledProgram> program = Read({"now test program f takes", "3B"});
  REQUIRE(program);
  CHECK(program->basis == "log");
  CHECK(ShowWithLines(program->facts) == "module='f'@1 need_bytes=6@0 test_bytes=3@2");
  CHECK(program->where.line == 1);
  CHECK(program->where.last_line == 2);
  CHECK(program->where.offset == 4);
  CHECK(program->id == Read({"again test program f takes 3B"})->id);
  CHECK(program->id != Read({"now test program f takes 4B"})->id);
}

TEST_CASE("a match without a plausible need states nothing", "[read]") {
  CHECK_FALSE(Read({"test program f takes 0B"}));
  CHECK_FALSE(Read({"test program f takes -3B"}));
  CHECK_FALSE(Read({"test program f takes 7.90E"}));  // the need is twice that, which exceeds the maximum
  CHECK(Read({"test program f takes 1B"}));
}

}  // namespace TEST_FILE
