// The programs that a log states, once or repeatedly.
#include <fmt/format.h>

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
  const JoinedLines joined(lines, 12, JoinedLines::Joint::kBlank);
  const std::vector<ContextFinder::Found> found = TestEngine().contexts().Find(joined);
  REQUIRE(found.size() == 1);
  return ReadStatement(found[0], joined, ParseTimestamp("2026-11-20T12:00:00Z"));
}

CompiledProgram Program(int number) {
  return Read({fmt::format("test program number{} takes {}B", number, 1000 - number)}).value();
}

// A text for Program(number), long enough to be recognized when it is repeated.
std::string TextOf(int number) { return fmt::format("a statement of the program number {:03}", number); }

// Returns "module xoccurrences", largest need first, with a "?" if the time is unknown.
std::string Show(ProgramTable table) {
  std::string shown;
  for (const CompiledProgram& program : table.Take())
    shown += fmt::format("{}{} x{}{}", shown.empty() ? "" : ", ", program.facts.Text("module"), program.occurrences,
                         program.first_time ? "" : "?");
  return shown;
}

TEST_CASE("a statement is read with derived facts and its location", "[read]") {
  const std::optional<CompiledProgram> program = Read({"now test program f takes", "3B"});
  REQUIRE(program);
  CHECK(program->basis == "log");
  CHECK(ShowWithLines(program->facts) == "module='f'@1 need_bytes=6@0 test_bytes=3@2");
  CHECK(program->where.line == 1);
  CHECK(program->where.last_line == 2);
  CHECK(program->where.offset == 4);
  CHECK(ToString(*program->first_time) == "2026-11-20T12:00:00Z");
  CHECK(program->first_time == program->last_time);
  CHECK(program->id == Read({"again test program f takes 3B"})->id);
  CHECK(program->id != Read({"now test program f takes 4B"})->id);
}

TEST_CASE("a match without a plausible need states nothing", "[read]") {
  CHECK_FALSE(Read({"test program f takes 0B"}));
  CHECK_FALSE(Read({"test program f takes -3B"}));
  CHECK_FALSE(Read({"test program f takes 7.90E"}));  // the need is twice that, which exceeds the maximum
  CHECK(Read({"test program f takes 1B"}));
}

TEST_CASE("a repeated text is counted and located", "[read]") {
  Statements statements;
  statements.Add(Program(1), TextOf(1));
  const auto again = statements.FindRepeat("12:00 " + TextOf(1) + ".");
  REQUIRE(again);
  CHECK(again->first == 6);
  CHECK(again->second == 6 + TextOf(1).size());
  CHECK_FALSE(statements.FindRepeat(TextOf(2)));
  statements.Count(TextOf(1));
  statements.Count(TextOf(1));
  statements.Count(TextOf(2));
  CHECK(Show(statements.Take()) == "number1 x3?");
}

TEST_CASE("a short or multi-line text is not recognized again", "[read]") {
  Statements statements;
  statements.Add(Program(1), "program of 23 character");
  CHECK_FALSE(statements.FindRepeat("program of 23 character"));
  statements.Add(Program(2), "program of 24 characters");
  CHECK(statements.FindRepeat("program of 24 characters"));
  statements.Add(Program(3), "");
  CHECK_FALSE(statements.FindRepeat(""));
  CHECK(Show(statements.Take()) == "number1 x1, number2 x1, number3 x1");
}

TEST_CASE("only the last sixteen are recognized; the counts of earlier ones are kept", "[read]") {
  Statements statements;
  for (int i = 1; i <= 16; ++i) statements.Add(Program(i), TextOf(i));
  statements.Count(TextOf(1));
  CHECK(statements.FindRepeat(TextOf(1)));
  statements.Add(Program(17), TextOf(17));
  CHECK_FALSE(statements.FindRepeat(TextOf(1)));
  CHECK(statements.FindRepeat(TextOf(2)));
  statements.Add(Program(18), TextOf(18));
  CHECK_FALSE(statements.FindRepeat(TextOf(2)));
  CHECK(statements.FindRepeat(TextOf(17)));
  statements.Count(TextOf(17));
  const std::string shown = Show(statements.Take());
  CHECK(shown.substr(0, 24) == "number1 x2?, number2 x1,");
  CHECK(shown.substr(shown.size() - 25) == "number17 x2?, number18 x1");
}

TEST_CASE("the time of a repetition is unknown", "[read]") {
  Statements statements;
  statements.Add(Program(1), TextOf(1));
  statements.Add(Program(1), TextOf(1));
  CHECK(Show(statements.Take()) == "number1 x2");
  statements = Statements();
  statements.Add(Program(1), TextOf(1));
  statements.Count(TextOf(1));
  CHECK(Show(statements.Take()) == "number1 x2?");
}

}  // namespace TEST_FILE
